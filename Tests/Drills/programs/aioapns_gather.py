"""aioapns: a request for each device token, sent side by side."""

import asyncio

from aioapns import APNs, NotificationRequest, PushType

from batch import HELLO, address, report, setting, tokens


async def send(client, token):
    try:
        result = await client.send_notification(NotificationRequest(
            device_token=token, message={"aps": {"alert": HELLO}}, push_type=PushType.ALERT))
        if not result.is_successful:
            report(token, result.description)
    except Exception as error:
        report(token, error)


async def run():
    with open(setting("KEY")) as file:
        client = APNs(
            key=file.read(), key_id=setting("KEY_ID"), team_id=setting("TEAM"), topic=setting("TOPIC"), use_sandbox=True)
    # Its server is a constant. The authority comes by SSL_CERT_FILE.
    client.pool.protocol_class.APNS_SERVER, client.pool.protocol_class.APNS_PORT = "localhost", address("PROVIDER")[1]
    await asyncio.gather(*(send(client, token) for token in tokens))


asyncio.run(run())
