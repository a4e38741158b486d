"""Other people's clients of the HTTP/2 API, unmodified: a hundred pushes each to a device that is on, as many to ones that are off,
and every count equal on both sides. h2load, which costs next to nothing, sends ten times as many, which fill all streams."""

import collections
import json
import os
import sys

import pytest

from harness import TIMEOUT, TOPIC, SimulatedDevice
from identity import bearer
from libraries import libraries
from programs import Run, client, tool

COUNT = 100
APPLE = "api.sandbox.push.apple.com"


class Device:
    """A simulated iPhone that is on."""

    def __init__(self, emulator):
        self.process = SimulatedDevice(emulator, "online-phone")
        self.token = self.process.next("token")["token"]

    def alerts(self, count):
        return [self.process.notification()["payload"]["aps"]["alert"] for _ in range(count)]

    def acknowledged(self, lab, count, since):
        """Waits for the acknowledgements of what the device has told already."""
        lab.emulator.api("POST", "/api/v1/notifications/wait", {
            "match": {"token": self.token, "state": "delivered"}, "count": count, "since": since, "timeoutMs": 1000 * TIMEOUT})


@pytest.fixture(scope="module")
def device(lab):
    device = Device(lab.emulator)
    yield device
    device.process.stop()


@pytest.fixture(scope="session")
def apns2_folder(tmp_path_factory):
    """Where apns2 and its old relatives live."""
    return libraries("apns2", tmp_path_factory)


def aioapns(run):
    return run.program([sys.executable, client("aioapns_push.py")])


def kalyke(run):
    return run.program([sys.executable, client("kalyke_push.py")])


def apns2(run, folder):
    return run.program([sys.executable, client("apns2_push.py")], folder)


def node(run):
    return run.program([tool("node"), client("push.mjs")], signature="ieee-p1363")


def node_der(run):
    """The same with the signature as OpenSSL makes it, which Apple takes too."""
    return run.program([tool("node"), client("push.mjs")], signature="der")


def ruby(run):
    return run.program([tool("ruby"), client("push.rb")])


def perl(run):
    certificate = run.lab.emulator.path("certs", "push", TOPIC)
    return run.program(
        [tool("perl"), client("push.pl")], certificate=certificate + ".pem", certificateKey=certificate + ".key")


def curl(run):
    """Apple's URL; --connect-to leads it here."""
    port = run.lab.emulator.address("provider")[1]
    requests = [
        f'url = "https://{APPLE}/3/device/{token}"\n'
        f'data = "{{\\"aps\\":{{\\"alert\\":\\"{number}\\"}}}}"\n'
        f'header = "authorization: {bearer(run.lab.jwt)}"\nheader = "apns-topic: {TOPIC}"\n'
        'header = "apns-push-type: alert"\n'
        f'http2\noutput = "/dev/null"\nwrite-out = "%{{http_version}} %{{http_code}}\\n"\n'
        f'cacert = "{run.lab.emulator.ca}"\nconnect-to = "{APPLE}:443:127.0.0.1:{port}"\n'
        for number, token in enumerate(run.tokens)]
    output = run.run(
        [tool("curl"), "--silent", "--show-error", "--parallel", "--parallel-max", "100", "--config", "-"],
        text="next\n".join(requests))
    counts = collections.Counter(output.splitlines())
    return {line.removeprefix("2 "): count for line, count in counts.items()}


def h2load(run):
    """A hundred streams on one connection, or on four: each goes through the list of URLs from its beginning."""
    connections = "4" if len(set(run.tokens)) == 1 else "1"
    host, port = run.lab.emulator.address("provider")
    folder = run.lab.emulator.folder
    with open(os.path.join(folder, "payload.json"), "w") as file:
        file.write('{"aps":{"alert":"load"}}')
    with open(os.path.join(folder, "urls"), "w") as file:
        file.writelines(f"https://{host}:{port}/3/device/{token}\n" for token in run.tokens)
    output = run.run(
        [tool("h2load"), "-n", str(len(run.tokens)), "-c", connections, "-m", "100", "-i", file.name,
         "-d", os.path.join(folder, "payload.json"), "-H", f"authorization: {bearer(run.lab.jwt)}",
         "-H", f"apns-topic: {TOPIC}", "-H", "apns-push-type: alert"])
    line = next(line for line in output.splitlines() if line.startswith("status codes:"))
    return {"200" if "2xx" in part else part: int(part.split()[0]) for part in line.removeprefix(
        "status codes: ").split(", ") if not part.startswith("0 ")}


# Homebrew does not have their engines.
ONLY_DEBIAN = [ruby, perl]
CLIENTS = [aioapns, kalyke, apns2, curl, node, node_der, ruby, perl, h2load]


class Provider:
    """A client that pushes once to each of some tokens; answers how many had which outcome."""

    def __init__(self, push, arguments):
        self.push, self.arguments = push, arguments
        self.numbers_its_pushes = push is not h2load
        self.count = COUNT if push is not h2load else 10 * COUNT

    def __call__(self, lab, tokens):
        return self.push(Run(lab, tokens), *self.arguments)


@pytest.fixture(params=CLIENTS, ids=lambda function: function.__name__)
def provider(request):
    if request.param in ONLY_DEBIAN and sys.platform == "darwin":
        pytest.skip("its HTTP/2 engine is a Debian package")
    return Provider(request.param, [request.getfixturevalue("apns2_folder")] if request.param is apns2 else [])


def difference(before, after):
    names = ("received", "accepted", "rejected", "delivered", "stored", "replaced")
    return {name: after[name] - before[name] for name in names}


def test_many_to_a_device_that_is_on(lab, device, provider):
    before, count = lab.counters(), provider.count
    newest = max((entry["id"] for entry in lab.notifications(limit=1, order="newest")), default=0)
    assert provider(lab, [device.token] * count) == {"200": count}
    alerts = device.alerts(count)
    if provider.numbers_its_pushes:
        assert sorted(alerts, key=int) == [str(number) for number in range(count)]
    else:
        assert alerts == ["load"] * count
    device.acknowledged(lab, count, newest)
    assert difference(before, lab.counters()) == {
        "received": count, "accepted": count, "rejected": 0, "delivered": count, "stored": 0, "replaced": 0}


def test_many_to_devices_that_are_off(lab, provider, request):
    """Ten pushes to each of some tokens: all are accepted, the newest of each token is kept."""
    count = provider.count
    tokens = [lab.install(f"off-{request.node.callspec.id}-{number}", TOPIC) for number in range(count // 10)]
    before = lab.counters()
    assert provider(lab, tokens * 10) == {"200": count}
    assert difference(before, lab.counters()) == {
        "received": count, "accepted": count, "rejected": 0, "delivered": 0, "stored": count, "replaced": count - len(tokens)}
    for token in tokens[::25]:
        states = [entry["state"] for entry in lab.notifications(token=token)]
        assert states == ["replaced"] * 9 + ["stored"]


def test_what_is_refused_is_counted_too(lab, provider):
    """Half of the tokens are made up."""
    tokens = [lab.token if number % 2 else f"{number:064x}" for number in range(100)]
    before = lab.counters()
    counts = provider(lab, tokens)
    assert counts.pop("200") == 50 and list(counts.values()) == [50]
    after = difference(before, lab.counters())
    assert (after["received"], after["accepted"], after["rejected"]) == (100, 50, 50)
