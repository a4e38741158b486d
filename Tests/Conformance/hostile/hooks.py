"""Hooks that write without end, faster than anybody reads."""

import os
import signal
import time

# Of a command, as Documentation/hooks.md says, in seconds; and what the machine may take beyond it.
DEADLINE, ROOM = 30, 5
# The emulator waits two seconds for hooks, then one for SIGTERM, and looks at its store.
END = 6


def attack_end(run):
    """SIGTERM while they write."""
    lab, hooks = loud(run)
    with run.beside(lab):
        time.sleep(run.seconds)
    began = time.monotonic()
    lab.emulator.process.send_signal(signal.SIGTERM)
    wait_until(lambda: lab.emulator.process.poll() is not None, run.timeout)
    run.holds("ends when it is told to", lab.emulator.process.poll() == 0, lab.emulator.process.poll(), "0")
    run.at_most("its end took", time.monotonic() - began, END, "s", "two for hooks, one for SIGTERM")
    left = [process for process in begun(hooks) if lives(process)]
    run.holds("hooks that live on", not left and begun(hooks), f"{len(left)} of {len(begun(hooks))}", "0")


def attack_deadline(run):
    """Nobody stops them but their deadline."""
    lab, hooks = loud(run)
    with run.beside(lab):
        wait_until(lambda: begun(hooks), run.timeout)
        first, began = begun(hooks)[:1], time.monotonic()
        wait_until(lambda: not any(map(lives, first)), DEADLINE + ROOM)
        run.at_most("a hook that writes without end lives", time.monotonic() - began, DEADLINE + ROOM, "s", "30 s")
        run.holds("the first hook", first and not lives(first[0]), "lives" if any(map(lives, first)) else "gone", "gone")


def loud(run):
    """An emulator whose hooks say who they are in a file, and then write."""
    hooks = os.path.join(run.folder, "hooks")
    # They yield to healthy processes, as all attackers do.
    return run.quiet_lab("--on-delivery", f"echo $$ >> '{hooks}'; exec nice cat /dev/zero"), hooks


def begun(hooks):
    if not os.path.exists(hooks):
        return []
    with open(hooks) as file:
        return [int(line) for line in file]


def lives(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(condition, timeout):
    end = time.monotonic() + timeout
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
