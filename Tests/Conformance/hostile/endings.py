"""Row 12: a commit that fails, SIGHUP, a connect that is sent again, a provider token with an unknown demand."""

import os
import resource
import signal
import subprocess
import threading

from courier import Device
from harness import TOPIC, eventually

# The emulator's exit status when its store can't be used.
STORE_UNUSABLE = 4


def attack_full_disk(run):
    """No file may grow any more. What could not be committed was not stored, whatever the log says."""
    ours, theirs = os.pipe()
    # Python ignores SIGXFSZ; so does what it starts then, and writing fails with an error instead.
    lab = run.lab("--log-level", "info", is_ephemeral=False, output=theirs, restore_signals=False)
    os.close(theirs)
    log = []
    reader = threading.Thread(target=lambda: log.extend(open(ours, errors="replace")), daemon=True)
    reader.start()
    process = lab.emulator.process
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, 4096))
    with lab.connect() as connection:
        connection.socket.settimeout(run.timeout)
        try:
            status = connection.answer(connection.request(lab.fields(apns_id=None, apns_expiration=None))).status
        except OSError:
            status = "nothing"
    run.holds("answer to a push that could not be committed", status != 200, status, "none")
    try:
        process.wait(run.timeout)
    except subprocess.TimeoutExpired:
        pass
    reader.join(run.timeout)
    run.holds("exit status", process.poll() == STORE_UNUSABLE, process.poll(), str(STORE_UNUSABLE))
    told = [line.strip() for line in log if lab.token[:8] in line and "stored" in line]
    run.holds("lines of the log that call it stored", not told, told[0][:90] if told else "none", "none")


def attack_hangup(run):
    lab = run.quiet_lab("--capture", "traffic.jsonl")
    assert lab.push_now(lab.token).status == 200
    capture = lab.emulator.path("traffic.jsonl")
    eventually(lambda: os.path.exists(capture) and os.path.getsize(capture) > 0, "it is captured", run.timeout)
    os.rename(capture, capture + ".old")
    lab.emulator.process.send_signal(signal.SIGHUP)
    try:
        status = lab.push_now(lab.token).status
        eventually(lambda: os.path.exists(capture) and os.path.getsize(capture) > 0, "it begins anew", run.timeout)
        found = "goes on, capture begun anew"
    except (OSError, AssertionError):
        ended = lab.emulator.process.poll()
        found = "goes on, capture not reopened" if ended is None else f"ended with {ended}"
        status = None
    run.holds("SIGHUP", status == 200, found, "goes on, logs and capture reopened")


class Overheard(Device):
    """Remembers the connect that it sent."""

    connect_frame = None

    def send(self, command, items):
        self.connect_frame = self.connect_frame or (command, items)
        super().send(command, items)


class Copycat(Device):
    """Sends the connect of another."""

    def __init__(self, overheard, *identity):
        super().__init__(*identity)
        self.overheard = overheard

    def send(self, command, items):
        super().send(*self.overheard.connect_frame)


def attack_replayed_connect(run):
    lab = run.quiet_lab()
    identity = lab.emulator, *lab.emulator.device_certificate("phone-0"), TOPIC
    honest = Overheard(*identity).connect()
    thief = Copycat(honest, *identity)
    try:
        thief.connect()
        found = "accepted"
    except (AssertionError, EOFError, OSError):
        found = "refused"
    run.holds("a connect sent a second time by somebody else", found == "refused", found, "refused")
    honest.close()
    thief.close()


def attack_unknown_demand(run):
    """RFC 7515 4.1.11: who does not understand what `crit` names must refuse the token."""
    lab = run.quiet_lab()
    token = lab.key.token(header={"crit": ["x-unknown"], "x-unknown": True})
    answer = lab.push_now(lab.token, authorization=f"bearer {token}")
    run.holds(
        "a provider token with an unknown crit", answer.status == 403, f"{answer.status} {answer.body.decode()[:60]}",
        "403 InvalidProviderToken")
