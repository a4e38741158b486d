"""All kinds of healthy traffic for a while: connections come and go, devices reconnect, the console is asked and watched.

    python soak.py [--binary FILE] [--seconds N]

Prints memory and descriptors every 30 s. Memory must stay where it was after the first fifth, descriptors must be those of the
start once everybody has gone, and nothing may fail. Ends by itself, with 1 if that does not hold."""

import argparse
import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = os.path.dirname(HERE)
if __name__ == "__main__":
    sys.path[:0] = [CONFORMANCE, os.path.join(CONFORMANCE, "provider"), os.path.join(CONFORMANCE, "hostile")]
    if "--binary" in sys.argv:
        os.environ["APNS_EMULATOR_BINARY"] = os.path.abspath(sys.argv[sys.argv.index("--binary") + 1])
    os.environ.setdefault("APNS_EMULATOR_BINARY", os.path.join(HERE, "../../../.build/release/apns-emulator"))

from courier import MESSAGE, Device  # noqa: E402
from harness import TIMEOUT, TOPIC, Emulator, eventually  # noqa: E402
from lab import Lab  # noqa: E402
from legacy import Provider, enhanced  # noqa: E402
from rig import MEBIBYTE, issue, resident  # noqa: E402

DEVICES = 4
# What memory may move by once everything has its size, in bytes: the allocator's own ups and downs.
ROOM = 8 * MEBIBYTE
# Small, so that it is full before the first fifth is over.
HISTORY = 500
# Seconds between the lines of the report.
REPORT = 30
# Seconds that a worker rests between turns: this is about time, not about load.
REST = 0.01


class Soak:
    def __init__(self, folder, certs, seconds, room=ROOM):
        self.seconds, self.room = seconds, room
        emulator = Emulator(folder)
        shutil.copytree(certs, emulator.path("certs"))
        emulator.start("--log-level", "error", "--history", str(HISTORY))
        self.lab = Lab(emulator)
        self.emulator, self.process = emulator, emulator.process.pid
        self.over = threading.Event()
        self.failures, self.turns, self.samples = [], {}, []
        self.tokens = []

    def run(self, report=print):
        """Answers what does not hold; empty if all does."""
        self.register()
        idle = eventually(self.settled, "the descriptors stay the same")
        workers = [self.provider_of_old, self.provider_of_today, self.passing_provider, self.asker, self.watcher, self.waiter,
                   self.feedback, *([self.phone] * DEVICES)]
        threads = [
            threading.Thread(target=self.work, args=(worker, number), daemon=True)
            for number, worker in enumerate(workers)]
        for thread in threads:
            thread.start()
        self.watch(report)
        self.over.set()
        for thread in threads:
            thread.join(TIMEOUT)
            if thread.is_alive():
                self.failures.append("somebody waits for ever")
        return self.verdict(idle, report)

    def watch(self, report):
        began = time.monotonic()
        reported = -REPORT
        while (elapsed := time.monotonic() - began) < self.seconds and not self.failures:
            self.samples.append((elapsed, resident(self.process), self.open()))
            if elapsed - reported >= REPORT:
                reported = elapsed
                report(self.line())
            time.sleep(0.2)
        report(self.line())

    def line(self):
        elapsed, memory, descriptors = self.samples[-1]
        turns = ", ".join(f"{name} {count}" for name, count in sorted(self.turns.items()))
        return f"{elapsed:5.0f} s  {memory / MEBIBYTE:6.1f} MiB  {descriptors:3} descriptors  ({turns})"

    def verdict(self, idle, report):
        problems = list(self.failures[:5])
        settled = [memory for elapsed, memory, _ in self.samples if elapsed > self.seconds / 5]
        # The average of ten samples: single ones jump with what is under way.
        first, last = (sum(part) / max(1, len(part)) for part in (settled[:10], settled[-10:]))
        if last - first > self.room:
            problems.append(f"memory grew from {first / MEBIBYTE:.1f} to {last / MEBIBYTE:.1f} MiB")
        try:
            eventually(lambda: self.open() <= idle, "")
        except AssertionError:
            problems.append(f"{self.open()} descriptors are open, {idle} before")
        idle_workers = [name for name, count in self.turns.items() if count == 0]
        if idle_workers or not self.turns:
            problems.append(f"nothing was done by {idle_workers}")
        report(
            f"memory {first / MEBIBYTE:.1f} → {last / MEBIBYTE:.1f} MiB, descriptors {idle} → {self.open()}: "
            + ("; ".join(problems) or "flat"))
        return problems

    def settled(self):
        before = self.open()
        time.sleep(0.3)
        return before if self.open() == before else None

    def open(self):
        return len(os.listdir(f"/proc/{self.process}/fd"))

    # Who does what, again and again

    def work(self, worker, number):
        choice, name = random.Random(number), worker.__name__
        self.turns.setdefault(name, 0)
        while not self.over.is_set():
            try:
                worker(choice, number)
            except Exception as error:
                self.failures.append(f"{name}: {type(error).__name__}: {error}"[:300])
                return
            self.turns[name] += 1
            time.sleep(REST)

    def register(self):
        """Tokens of phones that come and go, and of one that never comes."""
        self.phones = [self.device(number) for number in range(DEVICES)]
        for phone in self.phones:
            self.tokens.append(phone.connect().app_token())
            phone.close()
        self.tokens.append(bytes.fromhex(self.lab.install("never-there", TOPIC)))

    def device(self, number):
        return Device(self.emulator, *self.emulator.device_certificate(f"phone-{number}"), TOPIC)

    def provider_of_old(self, choice, _):
        with Provider(self.emulator, *self.emulator.push_certificate()) as provider:
            for number in range(choice.randint(1, 5)):
                pad = b"x" * choice.choice((0, 100, 1500))
                provider.send(b"".join(
                    enhanced(number, choice.choice(self.tokens), b'{"aps":{"alert":"%s"}}' % pad)
                    for _ in range(choice.randint(1, 50))))
            assert provider.flush()[:2] == b"\x08\x02"

    def provider_of_today(self, choice, _):
        """One connection for many pushes."""
        with self.lab.connect() as connection:
            while not self.over.is_set() and connection.next_stream < 2000:
                token = choice.choice(self.tokens).hex()
                answer = connection.answer(connection.request(self.lab.fields(token, apns_id=None)))
                assert answer.status == 200, f"{answer.status} {answer.body}"
                del connection.frames[:], connection.raw[:]
                time.sleep(REST)

    def passing_provider(self, choice, _):
        """A connection a push, some of them refused."""
        token = choice.choice((self.tokens[0].hex(), "ab" * 32))
        status = self.lab.push_now(token).status
        assert status == (400 if token.startswith("abab") else 200), status

    def phone(self, choice, number):
        """Comes, takes what there is, and goes, in order or not."""
        device = self.phones[number % DEVICES]
        device.connect()
        for message in device.stored_notifications():
            device.acknowledge(message)
        device.socket.settimeout(0.2)
        end = time.monotonic() + choice.random()
        while time.monotonic() < end:
            with contextlib.suppress(TimeoutError):
                command, items = device.receive()
                if command == MESSAGE and choice.random() < 0.9:
                    device.send(11, [(4, items[4]), (8, b"\0")])
        device.close()

    def asker(self, choice, _):
        path = choice.choice((
            "/livez", "/readyz", "/metrics", "/api/v1/info", "/api/v1/tokens", "/api/v1/devices", "/api/v1/connections",
            "/api/v1/notifications?limit=20", "/api/v1/openapi.json", "/api/v1/export", "/"))
        self.get(path).close()

    def watcher(self, choice, _):
        """Looks at the event stream for a moment."""
        with self.get("/api/v1/events") as stream:
            for _ in range(choice.randint(1, 20)):
                assert stream.readline()

    def waiter(self, choice, _):
        query = {"match": {"topic": TOPIC}, "timeoutMs": 5000, "count": choice.randint(1, 3)}
        self.emulator.api("POST", "/api/v1/notifications/wait", query)

    def feedback(self, _, __):
        # One phone takes 4,096 installs, and this goes on for hours.
        udid = f"short-lived-{self.turns['feedback'] // 1000}"
        token = self.lab.install(udid, TOPIC)
        self.emulator.api("POST", f"/api/v1/devices/{udid}/apps/{TOPIC}/remove", {})
        with Provider(self.emulator, *self.emulator.push_certificate(), listener="feedback") as reader:
            reader.read_to_end()
        assert token

    def get(self, path):
        host, port = self.emulator.address("console")
        return urllib.request.urlopen(f"http://{host}:{port}{path}", timeout=TIMEOUT)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", help="the program (a release build by default)")
    arguments.add_argument("--seconds", type=float, default=300)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        certs = issue(os.path.join(folder, "issued"))
        soak = Soak(os.path.join(folder, "emulator"), certs, asked.seconds)
        try:
            problems = soak.run(lambda line: print(line, flush=True))
        finally:
            soak.emulator.stop()
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
