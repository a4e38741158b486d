"""An emulator with everything that providers need: keys, certificates, tokens in every state."""

import subprocess

from courier import Device
from harness import TOPIC, eventually
from identity import CertificateMaker, TokenKey, bearer
from wire import PAYLOAD, Connection, listed, push_fields

TEAM, OTHER_TEAM = "DEF123GHIJ", "XYZ789UVWK"
KEY, SECOND_KEY, OTHER_TEAMS_KEY = "ABC123DEFG", "ABC456DEFG", "XYZ123ABCD"
SANDBOX_KEY, PRODUCTION_KEY = "SAN123DBOX", "PRO123DUCT"
APP_KEY, OTHER_APP_KEY = "APP123TOPC", "OTH456TOPC"
OTHER_APP, NO_APP, INCAPABLE = "com.example.other", "com.example.unknown", "com.example.incapable"
VOIP, LIVE_ACTIVITY = TOPIC + ".voip", TOPIC + ".push-type.liveactivity"
PHONE, PRODUCTION_PHONE, GOING_PHONE = "probe-phone", "production-phone", "going-phone"
UNIVERSAL, SINGLE, ALONE = "com.example.universal", "com.example.single", "com.example.alone"
# The id of the example request (`Documentation/provider-api.md#example-push`).
ID = "11111111-2222-4333-8444-555555555555"


def prepare(emulator):
    """Keys and certificates, made before the emulator starts."""
    for key, team, flags in [
        (KEY, TEAM, []), (SECOND_KEY, TEAM, []), (OTHER_TEAMS_KEY, OTHER_TEAM, []),
        (SANDBOX_KEY, TEAM, ["--environment", "sandbox"]), (PRODUCTION_KEY, TEAM, ["--environment", "production"]),
        (APP_KEY, TEAM, ["--topic", TOPIC]), (OTHER_APP_KEY, TEAM, ["--topic", OTHER_APP]),
    ]:
        emulator.run("certs", "key", "--team", team, "--key-id", key, *flags)
    emulator.push_certificate(TOPIC)
    emulator.push_certificate(SINGLE)
    emulator.push_certificate(ALONE, "--single")
    emulator.push_certificate(UNIVERSAL, "--topic", UNIVERSAL + ".voip")
    for environment in ("sandbox", "production"):
        emulator.push_certificate(f"com.example.{environment}", "--environment", environment)
    emulator.device_certificate(GOING_PHONE)


def memory(lab):
    """Resident memory of the emulator, in bytes."""
    listed = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(lab.emulator.process.pid)], capture_output=True, text=True, check=True)
    return int(listed.stdout) * 1024


class Lab:
    def __init__(self, emulator):
        self.emulator = emulator
        self.keys = {name: TokenKey(emulator, name) for name in (
            KEY, SECOND_KEY, OTHER_TEAMS_KEY, SANDBOX_KEY, PRODUCTION_KEY, APP_KEY, OTHER_APP_KEY)}
        self.key = self.keys[KEY]
        self.jwt = self.key.token()
        self.authority = CertificateMaker(emulator.folder, emulator.path("certs", "ca"))
        self.stranger = CertificateMaker(emulator.folder)

    def start(self, *flags):
        self.emulator.start("--ephemeral", "--log-level", "warning", *flags)
        self.token = self.install(PHONE, TOPIC)
        return self

    # Devices

    def install(self, udid, topic, environment="sandbox"):
        """Puts an app on a phone that is off; answers its token."""
        path = f"/api/v1/devices/{udid}/apps/{topic}/install?environment={environment}"
        return self.emulator.api("POST", path, {})["token"]

    def remove(self, udid, topic):
        """A phone that is on loses an app, and says so when a push to it comes. Answers the token that is gone."""
        device = Device(self.emulator, *self.emulator.device_certificate(udid), topic).connect()
        token = device.app_token().hex()
        device.close()
        self.emulator.api("POST", f"/api/v1/devices/{udid}/apps/{topic}/remove", {})
        assert self.push_now(token, topic=topic).status == 200
        device.connect().stored_notifications()
        device.close()
        eventually(lambda: self.row(token)["state"] == "gone", "the token is gone")
        return token

    def row(self, token):
        return self.emulator.api("GET", f"/api/v1/tokens?token={token}")["tokens"][0]

    def counters(self):
        return self.emulator.api("GET", "/api/v1/info")["counters"]

    def notifications(self, **filters):
        query = "&".join(f"{name}={value}" for name, value in ({"limit": 10_000} | filters).items())
        return self.emulator.api("GET", f"/api/v1/notifications?{query}")["notifications"]

    # Requests

    def fields(self, token=None, **changes):
        """The example request of `Documentation/provider-api.md#example-push`, changed."""
        defaults = {
            "authorization": bearer(self.jwt), "apns_priority": "10", "apns_expiration": "0", "apns_id": ID}
        return push_fields(self.token if token is None else token, **(defaults | changes))

    def connect(self, **options):
        return Connection(self.emulator, **options)

    def push_now(self, token, topic=TOPIC, body=PAYLOAD, **changes):
        """A push on a connection of its own."""
        with self.connect() as connection:
            fields = self.fields(token, apns_topic=topic, apns_id=None, apns_expiration=None, **changes)
            return connection.answer(connection.request(fields, body))

    # What the probes need

    def prepare_for_probes(self, everything=True):
        self.prepared = {}
        if not everything:
            return
        suffixes = {"voip": ".voip"} | {suffix: suffix for suffix in (
            ".location-query", ".voip", ".complication", ".pushkit.fileprovider", ".push-type.liveactivity",
            ".voip-ptt", ".push-type.widgets", ".push-type.controls")}
        for name, suffix in suffixes.items():
            self.prepared[name] = self.install(PHONE, TOPIC + suffix)
        self.prepared["universal voip"] = self.install(PHONE, UNIVERSAL + ".voip")
        self.prepared[ALONE] = self.install(PHONE, ALONE)
        self.prepared["com.example.sandbox"] = self.install(PHONE, "com.example.sandbox")
        self.prepared["production"] = self.install(PRODUCTION_PHONE, TOPIC, "production")
        self.prepared["gone"] = self.remove(GOING_PHONE, TOPIC)
        self.prepare_channels()

    def prepare_channels(self):
        with self.connect(listener="gateway") as connection:
            for name, policy in [("stored", 1), ("unstored", 0), ("deletable", 1), ("deleted", 1)]:
                self.prepared[name] = self.create_channel(connection, TOPIC, policy)
            self.delete_channel(connection, TOPIC, self.prepared["deleted"])

    def advance(self, time):
        """Sets the emulator's clock ahead."""
        self.emulator.api("PUT", "/api/v1/clock", {"advance": time})

    # Channels

    def channel_fields(self, method, topic, channel=None):
        return listed({
            ":method": method, ":scheme": "https", ":path": f"/1/apps/{topic}/channels", ":authority": "localhost",
            "authorization": bearer(self.jwt), "apns-channel-id": channel})

    def create_channel(self, connection, topic, policy):
        body = b'{"message-storage-policy":%d,"push-type":"LiveActivity"}' % policy
        answer = connection.answer(connection.request(self.channel_fields("POST", topic), body))
        assert answer.status == 201, answer.body
        return answer["apns-channel-id"]

    def delete_channel(self, connection, topic, channel):
        answer = connection.answer(connection.request(self.channel_fields("DELETE", topic, channel), b""))
        assert answer.status == 204, answer.body

    def fill_channels(self, topic, count):
        """Makes so many channels, 500 at a time."""
        body = b'{"message-storage-policy":1,"push-type":"LiveActivity"}'
        with self.connect(listener="gateway") as connection:
            connection.wait_for_settings()
            fields = self.channel_fields("POST", topic)
            connection.answer(connection.request(fields, body))
            # From the second time on every field is in the header table: the block stays the same.
            block = connection.block(fields)
            streams = [connection.new_stream() for _ in range(count - 1)]
            for start in range(0, len(streams), 500):
                some = streams[start : start + 500]
                for stream in some:
                    connection.send(connection.headers(stream, None, block=block), connection.data(stream, body))
                for stream in some:
                    assert connection.answer(stream).status == 201
