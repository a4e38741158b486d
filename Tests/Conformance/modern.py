"""A provider of today, on PyPI's httpx and PyJWT. It knows only Apple's names: the emulator's proxy leads it there."""

import json
import ssl
import time

import httpx
import jwt

from harness import TIMEOUT, TOPIC

TEAM, KEY = "DEF123GHIJ", "ABC123DEFG"
API = "https://api.sandbox.push.apple.com"
CHANNELS = "https://api-manage-broadcast.sandbox.push.apple.com:2195"


def issue_key(emulator):
    """To be done once for a certs folder."""
    emulator.run("certs", "key", "--team", TEAM, "--key-id", KEY)


class ModernProvider:
    def __init__(self, emulator):
        with open(emulator.path("certs", "keys", f"AuthKey_{KEY}.p8")) as file:
            token = jwt.encode({"iss": TEAM, "iat": int(time.time())}, file.read(), "ES256", {"kid": KEY})
        self.client = httpx.Client(
            http2=True, verify=ssl.create_default_context(cafile=emulator.ca), trust_env=False, timeout=TIMEOUT,
            proxy="http://{}:{}".format(*emulator.address("proxy")), headers={"authorization": f"bearer {token}"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.close()

    def push(self, token, payload, topic=TOPIC, push_type="alert"):
        """Answers the status, and what its body says."""
        answer = self.client.post(
            f"{API}/3/device/{token}", headers={"apns-topic": topic, "apns-push-type": push_type},
            content=json.dumps(payload))
        assert answer.http_version == "HTTP/2"
        return answer.status_code, answer.json() if answer.content else None

    def create_channel(self, policy, topic=TOPIC):
        """Answers its id. Policy 1 stores the newest message, 0 none."""
        answer = self.client.post(
            f"{CHANNELS}/1/apps/{topic}/channels", json={"message-storage-policy": policy, "push-type": "LiveActivity"})
        assert answer.status_code == 201, answer.text
        return answer.headers["apns-channel-id"]

    def channels(self, topic=TOPIC):
        return self.client.get(f"{CHANNELS}/1/apps/{topic}/all-channels").json()["channels"]

    def delete_channel(self, channel, topic=TOPIC):
        answer = self.client.delete(f"{CHANNELS}/1/apps/{topic}/channels", headers={"apns-channel-id": channel})
        assert answer.status_code == 204, answer.text

    def broadcast(self, channel, payload, expiration=0, topic=TOPIC):
        """`payload` in bytes."""
        answer = self.client.post(
            f"{API}/4/broadcasts/apps/{topic}", content=payload, headers={
                "apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-expiration": str(expiration),
                "apns-priority": "10"})
        return answer.status_code, answer.text
