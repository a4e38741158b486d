"""kalyke: one message after the other."""

import asyncio

from httpx2 import AsyncClient
from kalyke import ApnsClient, ApnsConfig, Payload

from batch import HELLO, address, report, setting, tokens

client = ApnsClient(
    use_sandbox=True, team_id=setting("TEAM"), auth_key_id=setting("KEY_ID"), auth_key_filepath=setting("KEY"))
real_post = AsyncClient.post


def post(own, url, **options):
    """Its URL has no place for a port. The authority comes by SSL_CERT_FILE."""
    return real_post(own, url.replace("api.sandbox.push.apple.com", f"localhost:{address('PROVIDER')[1]}"), **options)


async def run():
    for token in tokens:
        try:
            await client.send_message(
                device_token=token, payload=Payload(alert=HELLO), apns_config=ApnsConfig(topic=setting("TOPIC")))
        except Exception as error:
            report(token, error)


AsyncClient.post = post
asyncio.run(run())
