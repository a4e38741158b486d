"""A provider on kalyke: a connection and a provider token (with `iat` as a string) for every push."""

import asyncio
import collections
import json
import sys

from httpx2 import AsyncClient
from kalyke import ApnsClient, ApnsConfig
from kalyke.exceptions import ApnsProviderException

AT_ONCE = 8


async def push(task):
    # Its URL has no place for a port; the authority comes by SSL_CERT_FILE, a proxy by HTTPS_PROXY.
    if "proxy" not in task:
        AsyncClient.post = to_port(AsyncClient.post, task["port"])
    client = ApnsClient(
        use_sandbox=True, team_id=task["team"], auth_key_id=task["keyId"], auth_key_filepath=task["key"])
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number, token):
        async with gate:
            try:
                await client.send_message(token, {"aps": {"alert": str(number)}}, ApnsConfig(topic=task["topic"]))
                return "200"
            except ApnsProviderException as error:
                return type(error).__name__

    return collections.Counter(await asyncio.gather(*map(one, range(len(task["tokens"])), task["tokens"])))


def to_port(post, port):
    def redirected(client, url, **options):
        return post(client, url.replace("api.sandbox.push.apple.com", f"localhost:{port}"), **options)
    return redirected


print(json.dumps(asyncio.run(push(json.load(sys.stdin)))))
