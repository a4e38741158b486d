"""Row 14: what can be asked of the proxy."""

import contextlib
import socket
import time

from harness import eventually
from rig import attackers
from wire import connect as ask

APPLE = "api.sandbox.push.apple.com:443"
# Buffers of the systems on the way: what a tunnel passes on before it stops reading is theirs.
SMALL = 4096


def connect(lab, timeout=5):
    plain = socket.socket()
    plain.settimeout(timeout)
    plain.connect(lab.emulator.address("proxy"))
    return plain


def attack_half_open(run):
    """Every place that the proxy has is taken by somebody who has said half of what he wants."""
    lab = run.quiet_lab()
    connections = []
    with run.beside(lab):
        for _ in range(1100):
            with contextlib.suppress(OSError):
                connections.append(connect(lab, timeout=1))
                connections[-1].sendall(f"CONNECT {APPLE} HTTP/1.1\r\nHost:".encode())
        led = 0
        for _ in range(20):
            with contextlib.suppress(OSError, AssertionError), connect(lab) as plain:
                led += ask(plain, APPLE).startswith("HTTP/1.1 200 ")
    run.holds("CONNECTs that were led beside 1,100 half ones", led == 20, f"{led} of 20", "20")
    for plain in connections:
        plain.close()
    run.grew()


def attack_floods(run):
    """Four attackers, each as fast as it can: to strangers, and to Apple's names without a word of TLS behind it."""
    lab = run.quiet_lab()
    counts = []
    with run.beside(lab):
        attackers(4, flood, run.seconds, lab, counts)
    run.tell("CONNECTs answered", f"{sum(counts):,}")
    run.grew()


def flood(number, end, lab, counts):
    target = APPLE if number % 2 else "example.com:443"
    count = 0
    while time.monotonic() < end:
        with contextlib.suppress(OSError, AssertionError), connect(lab) as plain:
            ask(plain, target)
            count += 1
    counts.append(count)


def attack_tunnels(run):
    """Tunnels to a server that never reads, filled for as long as they take anything."""
    count = 10 if run.is_short else 60
    with socket.create_server(("127.0.0.1", 0), backlog=count) as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        target = f"127.0.0.1:{server.getsockname()[1]}"
        lab = run.quiet_lab("--proxy-tunnel", target)
        with run.beside(lab):
            attackers(count, fill, run.seconds, run, lab, target)
        run.grew()
    with contextlib.suppress(AssertionError):
        eventually(lambda: tunnels(lab) == 0, "its end is noticed", run.timeout)
    run.holds("tunnels left when the server has gone", tunnels(lab) == 0, f"{tunnels(lab):.0f}", "0")


def tunnels(lab):
    return lab.emulator.metric("apns_emulator_proxy_tunnels")


def fill(_, end, run, lab, target):
    with connect(lab) as plain:
        assert ask(plain, target).startswith("HTTP/1.1 200 ")
        plain.settimeout(0.1)
        while time.monotonic() < end and not run.has_won():
            with contextlib.suppress(TimeoutError):
                plain.sendall(b"x" * (1 << 16))
