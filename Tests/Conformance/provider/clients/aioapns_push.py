"""A provider on aioapns: what its README shows, for many notifications at once."""

import asyncio
import collections
import json
import sys

from aioapns import APNs, NotificationRequest, PushType


async def push(task):
    proxy = {"proxy_host": task["proxy"][0], "proxy_port": task["proxy"][1]} if "proxy" in task else {}
    with open(task["key"]) as file:
        client = APNs(
            key=file.read(), key_id=task["keyId"], team_id=task["team"], topic=task["topic"], use_sandbox=True, **proxy)
    # The authority comes by SSL_CERT_FILE.
    if not proxy:
        client.pool.protocol_class.APNS_SERVER, client.pool.protocol_class.APNS_PORT = "localhost", task["port"]
    results = await asyncio.gather(*[
        client.send_notification(NotificationRequest(
            device_token=token, message={"aps": {"alert": str(number)}}, push_type=PushType.ALERT))
        for number, token in enumerate(task["tokens"])])
    return collections.Counter("200" if result.is_successful else result.description for result in results)


print(json.dumps(asyncio.run(push(json.load(sys.stdin)))))
