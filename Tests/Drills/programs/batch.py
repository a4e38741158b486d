"""What every Python program here needs to know. `apns-emulator drill` says it in the environment."""

import os

HELLO = "Hello"


def setting(name):
    return os.environ[f"APNS_EMULATOR_{name}"]


def address(listener):
    host, _, port = setting(listener).rpartition(":")
    return host.strip("[]"), int(port)


with open(setting("TOKEN_FILE")) as file:
    tokens = [line.split()[0] for line in file if line.strip()]

_report = open(setting("REPORT"), "w")


def report(token, outcome):
    """What a library told its caller about a push that it could not send."""
    print(token, str(outcome).replace("\n", " ") or type(outcome).__name__, file=_report, flush=True)
