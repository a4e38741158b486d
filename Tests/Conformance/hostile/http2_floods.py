"""Rows 6 and 7: frames that cost little to send and much to take, and streams that are left half open."""

import contextlib
import time

from device_acknowledgements import register
from legacy import Provider, framed
from rig import attackers
from wire import ENHANCE_YOUR_CALM, raw_frame

DATA, HEADERS, WINDOW_UPDATE = 0, 1, 8
END_STREAM, END_HEADERS = 1, 4
CONNECTIONS = 4
# Bytes of header block in one frame, the most that HTTP/2 lets everybody send.
BLOCK = 16_000
# Seconds within which a request must have come whole: what web servers wait (nginx, Apache: 60).
REQUEST_DEADLINE = 60


def attack_empty_data(run):
    flood(run, lambda connection, fields: [raw_frame(DATA, 0, open_stream(connection, fields), b"") * 2000])


def attack_window_updates(run):
    """One byte each, so that the window never overflows while the flood lasts."""
    flood(run, lambda connection, fields: [
        raw_frame(WINDOW_UPDATE, 0, open_stream(connection, fields), b"\0\0\0\1") * 500
        + raw_frame(WINDOW_UPDATE, 0, 0, b"\0\0\0\1") * 500])


def attack_headers(run):
    """A field of 4,000 bytes in the table of header fields, named by a byte, thousands of times a request."""
    flood(run, header_bombs)


def header_bombs(connection, fields):
    value = b"x" * 4000
    # RFC 7541 6.2.1: literal with indexing, new name; 6.1: the newest entry of the dynamic table is number 62.
    learn = b"\x40\x01a" + b"\x7f" + bytes([(4000 - 127) & 0x7F | 0x80, (4000 - 127) >> 7]) + value
    connection.send_bytes(raw_frame(HEADERS, END_HEADERS | END_STREAM, connection.new_stream(), learn))
    while True:
        yield raw_frame(HEADERS, END_HEADERS | END_STREAM, connection.new_stream(), b"\xbe" * BLOCK)


def open_stream(connection, fields):
    """A request that is allowed and lacks its body."""
    stream = connection.new_stream()
    connection.send(connection.headers(stream, fields))
    return stream


def flood(run, pieces):
    """Four connections send without reading more than they must. Each must be ended for it."""
    lab = run.quiet_lab()
    identity = lab.emulator.push_certificate()
    ends = {}

    def attack(number, end):
        with lab.connect(certificate=identity) as connection:
            connection.wait_for_settings()
            connection.socket.settimeout(run.timeout)
            ends[number] = "still open"
            # A busy machine may need longer to see so much.
            last = end + run.timeout / 2
            try:
                made = pieces(connection, lab.fields(authorization=None))
                while time.monotonic() < last:
                    for piece in made:
                        connection.send_bytes(piece)
                        if time.monotonic() >= last:
                            break
                connection.barrier()
            except (OSError, AssertionError):
                with contextlib.suppress(OSError):
                    connection.read_to_end()
                ends[number] = connection.goaway[0] if connection.goaway else "reset"

    with run.beside(lab):
        attackers(CONNECTIONS, attack, run.seconds)
    calm = sum(end == ENHANCE_YOUR_CALM for end in ends.values())
    told = ", ".join(sorted({str(end) for end in ends.values()}))
    run.holds(
        "abusive connections ended with ENHANCE_YOUR_CALM", calm == CONNECTIONS, f"{calm} ({told})", f"{CONNECTIONS}")
    run.grew()


def attack_half_open(run):
    """A thousand requests whose bodies never come."""
    lab = run.quiet_lab()
    identity = lab.emulator.push_certificate()
    with run.watched(lab), lab.connect(certificate=identity) as connection:
        connection.wait_for_settings()
        connection.socket.settimeout(REQUEST_DEADLINE * 1.5)
        fields = lab.fields(authorization=None) + [("x-padding", "x" * 3000)]
        with contextlib.suppress(OSError):
            for _ in range(1000):
                open_stream(connection, fields)
        began = time.monotonic()
        with contextlib.suppress(OSError):
            connection.wait(lambda frame: frame.stream_id != 0 or type(frame).__name__ == "GoAwayFrame")
        waited = time.monotonic() - began
        run.at_most(
            "first of 1,000 half-open streams given up after", waited, REQUEST_DEADLINE * 1.25, "s",
            "what web servers give a request", is_timed=False)
        run.grew()


def attack_never_reading(run):
    """Devices that connect and read nothing more, while much is pushed to them."""
    count, pushes, memory = (8, 4500, 16) if run.is_short else (60, 9000, 128)
    lab = run.small_lab(memory)
    # Unread, but for what the two systems' sockets hold.
    devices = []
    for number in range(count):
        lab.emulator.device_certificate(f"phone-{number}")
        devices.append(register(lab, number))
    pad = b'{"aps":{"alert":"%s"}}' % (b"x" * 1900)
    with run.beside(lab):
        for _, token in devices:
            if run.has_won():
                break
            with contextlib.suppress(OSError), Provider(lab.emulator, *lab.emulator.push_certificate()) as provider:
                provider.socket.settimeout(run.timeout)
                provider.send(framed(1, bytes(token), pad) * pushes)
                provider.flush()
    run.grew_within(memory)
    for device, _ in devices:
        device.close()
