"""What the attacks share: an emulator of their own, a healthy peer beside them, and what is measured of both."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time

from harness import BINARY, TIMEOUT, TOPIC, Emulator
from lab import Lab, prepare

HERE = os.path.dirname(os.path.abspath(__file__))
MEBIBYTE = 1 << 20

# What a healthy peer may feel of an attack, in seconds. The shortest time-out that provider libraries come with is 5 s;
# a tenth of that is not noticed by any, and a push that usually takes a millisecond still counts as prompt at 100 ms.
WORST_WAIT = 0.5
P99_WAIT = 0.1
# What an attack that is refused may leave in memory, in bytes: the buffers of its connections, and what malloc keeps.
ROOM = 64 * MEBIBYTE
# What malloc may keep of memory that was given back, and what is not counted (a message on its way), in bytes.
KEPT = 48 * MEBIBYTE
# An attack that has grown the emulator by so much has won; it ends there, so that the machine survives it.
LOST = 1 << 30


class Check:
    """One line of the table."""

    def __init__(self, what, value, expected, is_right, is_timed):
        self.what, self.value, self.expected = what, value, expected
        self.is_right, self.is_timed = is_right, is_timed

    def __str__(self):
        expected = f" (expected: {self.expected})" if self.expected else ""
        return f"{'ok ' if self.is_right else 'NOT'} {self.what}: {self.value}{expected}"


class Run:
    """One attack. `seconds` is how long it lasts; a short run is one whose timings nobody relies on."""

    def __init__(self, folder, certs, seconds, is_short=False):
        self.folder, self.certs, self.seconds, self.is_short = str(folder), certs, seconds, is_short
        self.timeout = TIMEOUT if is_short else 10
        self.checks, self.labs = [], []
        self.peak, self.floor = 0, 0

    def close(self):
        for lab in self.labs:
            with contextlib.suppress(subprocess.TimeoutExpired):
                lab.emulator.process.terminate()
                lab.emulator.process.wait(2)
            if lab.emulator.process.poll() is None:
                lab.emulator.kill()

    # The emulator

    def lab(self, *flags, name="emulator", is_ephemeral=True, **options):
        """A running emulator with keys, certificates and the token of a phone that is off."""
        folder = os.path.join(self.folder, name)
        shutil.copytree(self.certs, os.path.join(folder, "certs"))
        lab = Lab(Emulator(folder))
        self.labs.append(lab)
        lab.emulator.start(*(["--ephemeral"] if is_ephemeral else []), *flags, **options)
        lab.token = lab.install("probe-phone", TOPIC)
        return lab

    def quiet_lab(self, *flags, **options):
        return self.lab("--log-level", "error", *flags, **options)

    def small_lab(self, memory):
        """One whose connections, queues and answers may take so many MiB together."""
        told = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, timeout=TIMEOUT).stdout
        # Programs of the time before that flag are still worth a comparison.
        return self.quiet_lab(*(["--memory", f"{memory}M"] if "--memory " in told else []))

    # What is found

    def holds(self, what, is_right, value, expected):
        """Something that holds on every machine, however slow."""
        self.checks.append(Check(what, value, expected, bool(is_right), False))

    def tell(self, what, value):
        """A figure that nothing is expected of."""
        self.checks.append(Check(what, value, "", True, False))

    def at_most(self, what, value, bound, unit, reason, is_timed=True):
        shown, limit = (f"{number:,.{1 if unit in ('MiB', 's') else 0}f} {unit}" for number in (value, bound))
        self.checks.append(Check(what, shown, f"at most {limit}: {reason}", value <= bound, is_timed))

    def at_least(self, what, value, bound, unit, reason, is_timed=True):
        self.checks.append(
            Check(what, f"{value:,.0f} {unit}", f"at least {bound:,.0f} {unit}: {reason}", value >= bound, is_timed))

    def grew(self, bound=ROOM, reason="buffers of a few connections"):
        """Growth of the emulator's memory since `watch` at its highest."""
        growth = max(0, self.peak - self.floor) / MEBIBYTE
        self.at_most("memory grew by", growth, bound / MEBIBYTE, "MiB", reason, is_timed=False)

    def grew_within(self, memory):
        """The same where so many MiB were allowed by `--memory`."""
        self.grew(memory * MEBIBYTE + KEPT, f"--memory {memory}M, and what malloc keeps")

    def has_won(self):
        """Whether memory has grown so much that going on would only harm the machine."""
        return self.peak - self.floor > LOST

    # Beside a healthy peer

    @contextlib.contextmanager
    def beside(self, lab, wait=WORST_WAIT, reason="a tenth of the shortest client time-out"):
        """Runs the body beside a healthy provider, its device and somebody who asks /livez; adds what these felt."""
        healthy = Healthy(lab.emulator, self.timeout)
        with self.watched(lab) as cpu:
            began = time.monotonic()
            try:
                yield
                took = time.monotonic() - began
                spent = cpu()
            finally:
                felt = healthy.finish()
        sent, lost = felt["sent"], felt["lost"]
        self.holds("healthy pushes that never arrived", lost == 0 and sent > 0, f"{lost} of {sent}", "0")
        self.holds("/livez unanswered", felt["deaf"] == 0, felt["deaf"], "0")
        self.at_most("healthy push, p99", felt["p99"] * 1e3, P99_WAIT * 1e3, "ms", "prompt")
        self.at_most("healthy push, worst", felt["worst"] * 1e3, wait * 1e3, "ms", reason)
        self.at_most("/livez, worst", felt["livez"] * 1e3, wait * 1e3, "ms", reason)
        self.tell("CPU of the emulator", f"{100 * spent / took:.0f} %")

    @contextlib.contextmanager
    def watched(self, lab):
        """Samples memory while the body runs; yields what answers the CPU seconds spent so far."""
        process = lab.emulator.process.pid
        over, before = threading.Event(), cpu_seconds(process)
        self.floor = self.peak = resident(process)

        def sample():
            while not over.wait(0.02):
                self.peak = max(self.peak, resident(process))

        sampler = threading.Thread(target=sample, daemon=True)
        sampler.start()
        try:
            yield lambda: cpu_seconds(process) - before
        finally:
            over.set()
            sampler.join()


class Healthy:
    """`healthy.py` as a process of its own, so that attackers don't take its time."""

    def __init__(self, emulator, timeout):
        self.timeout = timeout
        emulator.push_certificate()
        emulator.device_certificate("healthy-phone")
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "healthy.py"), emulator.folder, str(timeout)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line == "ready\n", f"the healthy peer did not get ready: {line}"

    def finish(self):
        """Lets it send no more; answers what it felt, once everything that it sent has arrived or is lost."""
        self.process.stdin.write("over\n")
        self.process.stdin.flush()
        told, _ = self.process.communicate(timeout=2 * self.timeout + TIMEOUT)
        return json.loads(told)


def attackers(count, attack, seconds, *arguments):
    """Runs so many attackers at a time. Each is handed its number and the time to stop at. They yield to healthy
    processes, as a machine has no two cores to give away: what is measured is the emulator and not the scheduler."""
    end = time.monotonic() + seconds

    def run(number):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        with contextlib.suppress(OSError, EOFError, AssertionError):
            attack(number, end, *arguments)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + TIMEOUT)


def resident(process):
    """Resident memory, in bytes; 0 once it has ended."""
    try:
        with open(f"/proc/{process}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def cpu_seconds(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def issue(folder):
    """A certs folder with everything that the attacks need."""
    os.makedirs(folder, exist_ok=True)
    emulator = Emulator(folder)
    prepare(emulator)
    issue_devices(emulator)
    return emulator.path("certs")


def issue_devices(emulator):
    emulator.device_certificate("healthy-phone")
    for number in range(4):
        emulator.device_certificate(f"phone-{number}")
