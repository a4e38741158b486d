"""Row 19: what is left in memory and on the disk when something is over."""

import contextlib
import json
import socket
import time

from device_acknowledgements import register
from harness import TOPIC
from legacy import Provider, framed
from rig import MEBIBYTE, attackers, resident
from wire import raw_frame

KIBIBYTE = 1 << 10
# What history may take for a push that was refused, in bytes: as for a good one, with all that is said of it, twice over.
OF_ONE = 16 * KIBIBYTE
# What may be written to files for an error packet when all is stored, in bytes: what the healthy peer has stored meanwhile.
NOTHING = 8 * KIBIBYTE
HEADERS, END_HEADERS = 1, 4
STREAMS = 1000
# What malloc may keep of a flood, and what is told of its connections, in bytes.
AFTERWARDS = 32 * MEBIBYTE


def attack_refused(run):
    """Test pushes that are refused, each as large as a frame's payload can be."""
    count = 300 if run.is_short else 2000
    lab = run.quiet_lab()
    push = {
        "protocol": "legacy", "token": lab.token, "topic": TOPIC, "payload": {"aps": {"alert": "x" * 65_000}}}
    refused = []

    def send(_, end):
        while len(refused) < count and not run.has_won():
            answer = lab.emulator.api("POST", "/api/v1/push", push)
            refused.append((answer["verdict"]["reason"], answer.get("truncated")))

    with run.beside(lab):
        attackers(1, send, run.seconds + run.timeout + count / 20)
    right = refused.count(("PayloadTooLarge", True))
    run.holds("refused, and told to be here in part", right == count, f"{right} of {len(refused)}", count)
    run.grew(16 * MEBIBYTE + count * OF_ONE, f"as much as {count:,} good ones")


def attack_error_packets(run):
    """Devices that read nothing of what is on its way to them, and a provider that makes one mistake after the other."""
    count, errors = (10, 20) if run.is_short else (100, 200)
    lab = run.quiet_lab(is_ephemeral=False)
    devices = [deaf_device(lab, number) for number in range(count)]
    identity = lab.emulator.push_certificate()
    with Provider(lab.emulator, *identity) as provider:
        for _, token in devices:
            provider.send(b"".join(framed(n, token, json.dumps({"n": n, "x": "x" * 1900}).encode()) for n in range(40)))
        provider.flush()
    with run.beside(lab):
        before = written(lab)
        for _ in range(errors):
            with Provider(lab.emulator, *identity) as provider:
                assert provider.flush()[:2] == b"\x08\x02"
        each = (written(lab) - before) / errors
    run.at_most(
        f"written for an error packet beside {count} devices that don't read", each, NOTHING, "bytes",
        "what is stored already is not stored again", is_timed=False)
    for device, _ in devices:
        device.close()


def deaf_device(lab, number):
    lab.emulator.device_certificate(f"phone-{number}")
    device, token = register(lab, number)
    device.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return device, bytes(token)


def written(lab):
    """Bytes that the emulator has written to files; what goes to sockets is not among them."""
    with open(f"/proc/{lab.emulator.process.pid}/io") as file:
        return int(dict(line.split(": ") for line in file)["wchar"])


def attack_flood_over(run):
    """Requests whose bodies never come, on many connections, which then go."""
    count = 8 if run.is_short else 50
    lab = run.quiet_lab()
    identity = lab.emulator.push_certificate()
    with run.watched(lab):
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                connection = stack.enter_context(lab.connect(certificate=identity))
                connection.wait_for_settings()
                connection.send_bytes(b"".join(half_request(1 + 2 * number) for number in range(STREAMS)))
                connection.barrier()
            run.tell(f"memory during {count} connections of half-open streams", f"{held(run, lab):,.0f} MiB")
        deadline = time.monotonic() + run.timeout
        while held(run, lab) > AFTERWARDS / MEBIBYTE and time.monotonic() < deadline:
            time.sleep(0.1)
        run.at_most(
            "memory that is left when they have gone", held(run, lab), AFTERWARDS / MEBIBYTE, "MiB",
            "it is the system's again", is_timed=False)


def held(run, lab):
    """Growth of memory by now, in MiB."""
    return (resident(lab.emulator.process.pid) - run.floor) / MEBIBYTE


def half_request(stream):
    """HEADERS without END_STREAM, whose fields take much: literals without indexing (RFC 7541 6.2.2)."""
    fields = [
        (b":method", b"POST"), (b":scheme", b"https"), (b":authority", b"localhost"), (b":path", b"/3/device/ab"),
        (b"x-padding", b"x" * 7000)]
    block = b"".join(b"\0" + text(name) + text(value) for name, value in fields)
    return raw_frame(HEADERS, END_HEADERS, stream, block)


def text(value):
    """A string as HPACK has it (RFC 7541 5.1, 5.2)."""
    count, head = len(value), bytearray()
    if count < 127:
        return bytes([count]) + value
    head.append(127)
    count -= 127
    while count > 127:
        head.append(count & 127 | 128)
        count >>= 7
    return bytes(head) + bytes([count]) + value
