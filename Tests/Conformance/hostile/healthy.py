"""A healthy peer of an emulator under attack: pushes over HTTP/2 to a device that acknowledges, and asks /livez.

Started with the emulator's folder and how many seconds to wait for anything. Says `ready`; a line on its input ends it: then
it prints as JSON what it felt. Waits are in seconds, from the provider's write to the device's read."""

import json
import os
import sys
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "provider")]
os.environ.setdefault("APNS_EMULATOR_BINARY", "none")

from courier import ACK, MESSAGE, Device  # noqa: E402
from harness import TOPIC, Emulator  # noqa: E402
from wire import Connection, push_fields  # noqa: E402

# Seconds between pushes, and between questions.
PACE = 0.02


class Peer:
    def __init__(self, emulator, timeout):
        self.emulator, self.timeout = emulator, timeout
        self.over = threading.Event()
        self.sent, self.waits, self.livez, self.deaf = {}, [], [], 0
        self.device = Device(emulator, *emulator.device_certificate("healthy-phone"), TOPIC)
        self.token = self.device.connect().app_token().hex()
        self.device.stored_notifications()
        self.device.socket.settimeout(None)
        self.connection = Connection(emulator, certificate=emulator.push_certificate())
        self.connection.wait_for_settings()
        self.connection.socket.settimeout(None)

    def run(self):
        for part in (self.push, self.receive, self.ask):
            threading.Thread(target=part, daemon=True).start()

    def push(self):
        """One at a time, each counted from when its turn was: what waits behind a slow one has waited, too."""
        number, turn = 0, time.monotonic()
        while not self.over.wait(max(0, turn - time.monotonic())):
            number += 1
            self.sent[number] = turn
            turn += PACE
            try:
                body = json.dumps({"aps": {}, "number": number}).encode()
                self.connection.answer(self.connection.request(push_fields(self.token), body))
            except OSError:
                return
            del self.connection.frames[:], self.connection.raw[:]
            self.connection.answers.clear()

    def receive(self):
        try:
            while True:
                command, items = self.device.receive()
                if command == MESSAGE:
                    number = json.loads(items[3])["number"]
                    self.waits.append(time.monotonic() - self.sent.pop(number))
                    self.device.send(ACK, [(4, items[4]), (8, b"\0")])
        except (OSError, EOFError, KeyError):
            pass

    def ask(self):
        host, port = self.emulator.address("console")
        while not self.over.wait(PACE):
            began = time.monotonic()
            try:
                with urllib.request.urlopen(f"http://{host}:{port}/livez", timeout=self.timeout) as answer:
                    answer.read()
            except OSError:
                self.deaf += 1
            self.livez.append(time.monotonic() - began)

    def report(self):
        end = time.monotonic() + self.timeout
        # An attack may be over before a single push was made beside it.
        while not self.waits and time.monotonic() < end:
            time.sleep(0.01)
        self.over.set()
        while self.sent and time.monotonic() < end:
            time.sleep(0.01)
        now = time.monotonic()
        lost = list(self.sent.values())
        waits = sorted(self.waits + [now - at for at in lost])
        return {
            "sent": len(waits), "lost": len(lost), "p99": waits[len(waits) * 99 // 100] if waits else 0,
            "worst": waits[-1] if waits else 0, "livez": max(self.livez, default=0), "deaf": self.deaf}


def main():
    emulator = Emulator(sys.argv[1])
    with open(emulator.ports_file) as file:
        emulator.ports = json.load(file)
    peer = Peer(emulator, float(sys.argv[2]))
    peer.run()
    end = time.monotonic() + 2 * peer.timeout
    while len(peer.waits) < 10:
        if time.monotonic() > end:
            sys.exit("the emulator is not even healthy to begin with")
        time.sleep(0.01)
    # The first pushes met a cold start; what is felt counts from here.
    del peer.waits[:], peer.livez[:]
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(peer.report()), flush=True)


if __name__ == "__main__":
    main()
