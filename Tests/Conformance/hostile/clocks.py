"""Row 3: clocks that jump."""

import contextlib
import datetime
import os
import struct
import subprocess
import sys

from courier import MESSAGE
from device_acknowledgements import payload, register
from legacy import Provider, framed

HOUR = 3600
HERE = os.path.dirname(os.path.abspath(__file__))


class WallClock:
    """The wall clock of a process that is started with `environment`."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.file, library = os.path.join(folder, "shift"), os.path.join(folder, "shifted_clock.so")
        self.shift(0)
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-o", library, os.path.join(HERE, "shifted_clock.c"), "-ldl"], check=True)
        self.environment = {"LD_PRELOAD": library, "WALL_CLOCK_SHIFT": self.file}

    def shift(self, seconds):
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as file:
            file.write(struct.pack("=q", seconds * 1_000_000_000))


def attack_wall_clock(run):
    if not sys.platform.startswith("linux"):
        return run.holds("the wall clock steps", True, "not asked", "Linux")
    clock = WallClock(os.path.join(run.folder, "clock"))
    lab = run.quiet_lab(environment=clock.environment)
    device, token = register(lab, 0)
    before = now(lab)
    for hours in (-1, 1, -24):
        clock.shift(hours * HOUR)
        arrives(run, lab, device, token, f"a push once the wall clock was stepped {hours:+} h")
    moved = (now(lab) - before).total_seconds() / HOUR
    # Otherwise nothing was tried.
    run.holds("the emulator saw the wall clock step", -25 < moved < -23, f"{moved:.1f} h", "-24 h")


def attack_own_clock(run):
    lab = run.quiet_lab()
    device, token = register(lab, 0)
    for change in ({"set": (now(lab) - datetime.timedelta(hours=1)).isoformat()}, {"freeze": True}):
        lab.emulator.api("PUT", "/api/v1/clock", change)
        arrives(run, lab, device, token, f"a push once the emulator's clock was told to {next(iter(change))}")


def now(lab):
    return datetime.datetime.fromisoformat(lab.emulator.api("GET", "/api/v1/clock")["now"].replace("Z", "+00:00"))


def arrives(run, lab, device, token, what):
    """The device asks something first, as the emulator is quiet for a moment behind its answer."""
    device.socket.settimeout(run.timeout)
    came = "never"
    with Provider(lab.emulator, *lab.emulator.push_certificate()) as provider:
        provider.send(framed(1, token, payload(1)))
        with contextlib.suppress(OSError):
            while came == "never":
                command, items = device.receive()
                if command == MESSAGE:
                    device.acknowledge(items)
                    came = "arrived"
    run.holds(what, came == "arrived", came, "arrived")
