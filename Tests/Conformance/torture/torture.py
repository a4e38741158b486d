"""Makes one call of the operating system, OpenSSL or malloc fail, at a time, and looks whether the emulator bears it.

    python torture.py [--binary FILE] [--samples N] [--seed N] [calls]

In each round the n-th call of a kind fails once while an emulator starts, takes pushes over both protocols, serves a device and
answers the console. It must go on, or end with a documented status and a sentence; what it accepted must arrive, also after a
restart; afterwards no descriptor and no memory may be left over. Ends with 1 if it does not."""

import argparse
import contextlib
import errno
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = os.path.dirname(HERE)
SHIM = os.path.join(os.path.dirname(CONFORMANCE), "Torture", "failing_calls.c")
if __name__ == "__main__":
    sys.path[:0] = [CONFORMANCE, os.path.join(CONFORMANCE, "provider"), os.path.join(CONFORMANCE, "hostile")]
    if "--binary" in sys.argv:
        os.environ["APNS_EMULATOR_BINARY"] = os.path.abspath(sys.argv[sys.argv.index("--binary") + 1])
    os.environ.setdefault("APNS_EMULATOR_BINARY", os.path.join(HERE, "../../../.build/release/apns-emulator"))

from courier import MESSAGE, Device  # noqa: E402
from harness import TIMEOUT, TOPIC, Emulator, eventually  # noqa: E402
from legacy import Provider, enhanced  # noqa: E402
from rig import resident  # noqa: E402
from wire import Connection, push_fields  # noqa: E402

# In the order of failing_calls.c; what each says when it fails.
CALLS = {
    "read": errno.EIO, "write": errno.ENOSPC, "recv": errno.ENOMEM, "send": errno.ENOBUFS, "accept": errno.EMFILE,
    "open": errno.EMFILE, "fsync": errno.EIO, "fdatasync": errno.EIO, "pread": errno.EIO, "pwrite": errno.ENOSPC,
    "rename": errno.EIO, "socket": errno.EMFILE, "listen": errno.EADDRINUSE, "epoll_ctl": errno.ENOMEM, "malloc": errno.ENOMEM, "SSL_new": errno.ENOMEM,
    "SSL_set_fd": errno.ENOMEM, "SSL_do_handshake": errno.EIO, "SSL_read": errno.EIO, "SSL_write": errno.EIO,
    "SSL_shutdown": errno.EIO}
# Statuses that the emulator may end with: failed, port in use, store unusable.
DOCUMENTED = {1, 3, 4}
# How often a client tries again, as one connection may be lost to the failing call.
ATTEMPTS = 4
# Seconds that a client waits before it tries again: a call that fails may leave a peer without an answer, not for long.
ATTEMPT = 5
# Memory that a round may take more than one without a failure, in bytes: what malloc keeps differs from run to run.
ROOM = 24 << 20


class Control:
    """The file that both sides map: armed, fail_at, error, count, faulted."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as file:
            file.write(bytes(8 * (2 + 3 * len(CALLS))))

    def fail(self, call, number):
        place = list(CALLS).index(call)
        self._write(1 + place, number)
        self._write(1 + len(CALLS), CALLS[call])

    def arm(self):
        self._write(0, 1)

    def disarm(self):
        self._write(0, 0)

    @property
    def counts(self):
        return dict(zip(CALLS, self._read()[2 + len(CALLS):]))

    @property
    def has_injected(self):
        return any(self._read()[2 + 2 * len(CALLS):])

    def _read(self):
        with open(self.path, "rb") as file:
            data = file.read()
        return struct.unpack(f"={len(data) // 8}q", data)

    def _write(self, place, value):
        with open(self.path, "r+b", buffering=0) as file:
            file.seek(8 * place)
            file.write(struct.pack("=q", value))


class Tormentor:
    def __init__(self, folder):
        self.folder = str(folder)
        self.library = os.path.join(self.folder, "failing_calls.so")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", self.library, SHIM, "-ldl"], check=True)
        issued = Emulator(os.path.join(self.folder, "issued"))
        os.makedirs(issued.folder)
        issued.push_certificate()
        for number in range(2):
            issued.device_certificate(f"phone-{number}")
        self.certs = issued.path("certs")
        # Once without a failure: how many calls there are, at the start and after it, and what is left afterwards.
        calm = Round(self, None, 0)
        assert calm.run() is None, calm.problem
        self.at_start, self.in_all, self.descriptors, self.memory = (
            calm.at_start, calm.in_all, calm.descriptors, calm.memory)

    def samples(self, call, count, choice):
        """Numbers of calls to fail: first ones of the start and of the work, then any."""
        start, end = self.at_start[call], self.in_all[call]
        firsts = [number for number in (1, start + 1, start + 2) if 1 <= number <= end]
        others = list(range(1, end + 1))
        choice.shuffle(others)
        return list(dict.fromkeys(firsts + others))[:count]


class Round:
    """One emulator and one failing call; `problem` says what went wrong."""

    def __init__(self, tormentor, call, number):
        self.tormentor, self.call, self.number = tormentor, call, number
        self.problem = None
        self.ending = "went on"

    def run(self):
        with tempfile.TemporaryDirectory(dir=self.tormentor.folder) as folder:
            self.emulator = Emulator(folder)
            shutil.copytree(self.tormentor.certs, self.emulator.path("certs"))
            self.control = Control(os.path.join(folder, "control"))
            if self.call:
                self.control.fail(self.call, self.number)
            self.control.arm()
            try:
                self.carry_out()
            except (AssertionError, OSError, EOFError, subprocess.TimeoutExpired) as error:
                self.problem = self.problem or f"{type(error).__name__}: {error}"[:300]
            finally:
                self.end()
        return self.problem

    def end(self):
        with contextlib.suppress(Exception):
            self.emulator.kill()

    def carry_out(self):
        self.accepted = {}
        if self.start():
            self.work()
            self.look_for_leaks()
            self.stop()
        self.check_after_restart()

    # Its life

    def start(self):
        environment = {"LD_PRELOAD": self.tormentor.library, "FAILING_CALLS": self.control.path}
        try:
            self.emulator.start("--log-level", "warning", environment=environment)
        except AssertionError:
            # It ended at once, or is still trying.
            self.check_status("at the start")
            return False
        self.at_start = self.control.counts
        return True

    def check_status(self, when):
        status, log = self.emulator.process.poll(), self.emulator.log().strip()
        assert status is not None, f"neither ready nor ended {when}"
        assert status in DOCUMENTED, f"ended with {status} {when}: {log[-200:]}"
        assert log, f"ended with {status} {when} without a word"
        self.ending = f"ended with {status} {when}: {log.splitlines()[-1][-150:]}"

    @property
    def is_alive(self):
        return self.emulator.process.poll() is None

    def stop(self):
        self.control.disarm()
        if not self.is_alive:
            return self.check_status("in mid-work")
        self.emulator.terminate()
        status = self.emulator.process.wait(TIMEOUT)
        assert status == 0 or status in DOCUMENTED, f"ended with {status} when told to end"

    def check_after_restart(self):
        """Without failures: it starts, and what was accepted is there."""
        self.emulator.start("--log-level", "warning")
        for udid, text in self.accepted.items():
            messages = [json.loads(message[3])["text"] for message in self.device(udid).connect().stored_notifications()]
            assert messages == [text], f"accepted {text} for {udid}, but after a restart there was {messages}"
        self.emulator.stop()

    # The scenario

    def work(self):
        steps = [self.register, self.push_legacy, self.push_http2, self.ask, self.deliver]
        for step in steps:
            if not self.is_alive:
                return
            self.attempt(step)

    def attempt(self, step):
        """Whoever loses a connection comes back, as clients do."""
        for number in range(ATTEMPTS):
            try:
                return step()
            except (OSError, EOFError, AssertionError) as error:
                if not self.is_alive:
                    return None
                last = error
                time.sleep(0.05)
        raise AssertionError(f"{step.__name__} failed {ATTEMPTS} times: {type(last).__name__}: {last}")

    def device(self, udid):
        return Device(self.emulator, *self.emulator.device_certificate(udid), TOPIC)

    def register(self):
        self.tokens = {}
        for udid in ("phone-0", "phone-1"):
            with contextlib.closing(self.patient(self.device(udid))) as device:
                self.tokens[udid] = device.app_token()

    @staticmethod
    def patient(device):
        device.connect()
        device.socket.settimeout(ATTEMPT)
        return device

    def push_legacy(self):
        with Provider(self.emulator, *self.emulator.push_certificate()) as provider:
            provider.socket.settimeout(ATTEMPT)
            provider.send(enhanced(1, self.tokens["phone-0"], b'{"text":"legacy"}'))
            assert provider.flush()[:2] == b"\x08\x02", "no error packet"
            self.accepted["phone-0"] = "legacy"

    def push_http2(self):
        with Connection(self.emulator, certificate=self.emulator.push_certificate()) as connection:
            connection.socket.settimeout(ATTEMPT)
            fields = push_fields(self.tokens["phone-1"].hex())
            answer = connection.answer(connection.request(fields, b'{"text":"http2"}'))
            assert answer.status == 200, f"{answer.status} {answer.body}"
            self.accepted["phone-1"] = "http2"

    def ask(self):
        host, port = self.emulator.address("console")
        with urllib.request.urlopen(f"http://{host}:{port}/api/v1/info", timeout=ATTEMPT) as answer:
            json.load(answer)

    def deliver(self):
        """The first phone gets its message and acknowledges; the second one's is for after the restart."""
        with contextlib.closing(self.patient(self.device("phone-0"))) as device:
            for message in device.stored_notifications():
                assert json.loads(message[3])["text"] == "legacy"
                # Whether the acknowledgement arrives is open: the failing call may cut the connection behind it.
                self.accepted.pop("phone-0", None)
                device.acknowledge(message)
        assert "phone-0" not in self.accepted, "accepted, but not there"

    # What is left

    def look_for_leaks(self):
        self.in_all = self.control.counts
        self.control.disarm()
        if not self.is_alive:
            return
        if not self.call:
            # Connections are closed at their own pace.
            self.descriptors = eventually(self.settled, "the descriptors stay the same")
            self.memory = resident(self.emulator.process.pid)
            return
        allowed = self.tormentor.descriptors
        # A connection that broke is given time to end (5 s); sockets that listen, and the store, are there from the start.
        try:
            eventually(lambda: self.open() <= allowed, "", 3 * ATTEMPT)
        except AssertionError:
            raise AssertionError(f"{self.open()} descriptors are open, {allowed} without a failure") from None
        grown = resident(self.emulator.process.pid) - self.tormentor.memory
        assert grown < ROOM, f"{grown >> 20} MiB more than without a failure"

    def settled(self):
        before = self.open()
        time.sleep(0.3)
        return before if self.open() == before else None

    def open(self):
        return len(os.listdir(f"/proc/{self.emulator.process.pid}/fd"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", help="the program (a release build by default)")
    arguments.add_argument("--samples", type=int, default=40, help="how many of each kind fail, each in a round of its own")
    arguments.add_argument("--seed", type=int, default=1, help="of the choice of samples")
    arguments.add_argument("calls", nargs="*", help=", ".join(CALLS))
    asked = arguments.parse_args()
    choice, wrong, rounds = random.Random(asked.seed), 0, 0
    with tempfile.TemporaryDirectory(prefix="torture-") as folder:
        tormentor = Tormentor(folder)
        for call in asked.calls or CALLS:
            survived, endings, problems = 0, {}, []
            for number in tormentor.samples(call, asked.samples, choice):
                one = Round(tormentor, call, number)
                rounds += 1
                if one.run():
                    problems.append(f"{call} {number}: {one.problem}")
                elif one.ending == "went on":
                    survived += 1
                else:
                    endings[one.ending] = endings.get(one.ending, 0) + 1
            print(
                f"{call}: {tormentor.in_all[call]} calls ({tormentor.at_start[call]} at the start); went on {survived}, "
                f"ended in order {sum(endings.values())}, NOT {len(problems)}", flush=True)
            for ending, count in endings.items():
                print(f"    {count} × {ending}", flush=True)
            for problem in problems:
                print(f"    NOT {problem}", flush=True)
            wrong += len(problems)
    print(f"{rounds} rounds, {wrong} not borne")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
