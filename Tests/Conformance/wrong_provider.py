"""A provider of the binary interface that believes its writes: what it sent behind a rejected frame is lost. As a program it does so under
`exec`, says so, and ends with the status that it is told; in a `hurry` it ends when it has written 200 good ones."""

import json
import os
import sys
import types
import urllib.request

from harness import TOPIC
from legacy import Provider, framed

UNKNOWN = b"\xab" * 32


def alert(number):
    return b'{"aps":{"alert":"%d"}}' % number


def send(emulator, tokens, certificate, key, first=1):
    """Sends all at once; answers what the gateway said when it had closed. Identifiers count from `first`, and payloads have them."""
    with Provider(emulator, certificate, key) as provider:
        provider.send(b"".join(framed(number, token, alert(number)) for number, token in enumerate(tokens, first)))
        return provider.read_to_end()


def lose(emulator, token, count, certificate, key):
    """The first token is no device's; so many good ones follow, and are discarded."""
    said = send(emulator, [UNKNOWN, *[bytes.fromhex(token)] * count], certificate, key)
    assert said == bytes.fromhex("080800000001"), said


def main(status):
    address = {name.lower(): value.rsplit(":", 1) for name, value in (
        (name.removeprefix("APNS_EMULATOR_"), value) for name, value in os.environ.items() if name.startswith("APNS_EMULATOR_"))}
    emulator = types.SimpleNamespace(
        ca=os.environ["APNS_EMULATOR_CA"], address=lambda listener: (address[listener][0], int(address[listener][1])))
    install = f"http://{os.environ['APNS_EMULATOR_CONSOLE']}/api/v1/devices/phone/apps/{TOPIC}/install"
    with urllib.request.urlopen(urllib.request.Request(install, method="POST")) as answer:
        token = json.load(answer)["token"]
    pair = [os.path.join(os.environ["APNS_EMULATOR_CERTS"], "push", TOPIC + end) for end in (".pem", ".key")]
    if status == "hurry":
        provider = Provider(emulator, *pair)
        provider.send(b"".join(framed(number, bytes.fromhex(token), alert(number)) for number in range(200)))
        os._exit(0)
    lose(emulator, token, 9, *pair)
    print("done")
    sys.exit(int(status))


if __name__ == "__main__":
    main(sys.argv[1])
