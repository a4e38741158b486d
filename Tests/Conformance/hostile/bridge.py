"""Rows 10 and 13: the bridge to HTTP/2, with an upstream that says more than one word, and with an end by kill -9."""

import struct

from harness import eventually
from lab import KEY
from legacy import Provider, enhanced
from upstream import Upstream

TOKENS = [struct.pack(">I", number) * 8 for number in range(1, 151)]


def started(run, upstream_of):
    """A bridge and what stands behind it; `upstream_of` is handed the server's certificate and key."""
    lab = run.quiet_lab("--console-port", "0", name="keys")
    identity = lab.emulator.path("certs", "server.pem"), lab.emulator.path("certs", "server.key")
    return lab, upstream_of(*identity)


def flags(lab, upstream):
    key = lab.emulator.path("certs", "keys", f"AuthKey_{KEY}.p8")
    return ["--forward", f"127.0.0.1:{upstream.port}", "--key", key, "--log-level", "error"]


def send(emulator, tokens):
    provider = Provider(emulator, *emulator.push_certificate())
    provider.send(b"".join(enhanced(n, token, b'{"aps":{}}') for n, token in enumerate(tokens, 1)))
    return provider


def attack_interim(run):
    """Answers of 100 and 103 come before the final one (RFC 9110 15.2)."""
    lab, upstream = started(run, Upstream)
    with upstream:
        upstream.interim = (103, 100)
        lab.emulator.stop()
        lab.emulator.start("--ephemeral", *flags(lab, upstream))
        with send(lab.emulator, TOKENS[:10]):
            def known():
                found = lab.emulator.api("GET", "/api/v1/notifications?limit=100")["notifications"]
                over = [one for one in found if one["state"] not in ("stored", "sent")]
                return over if len(over) == 10 else None
            try:
                states = [one["state"] for one in eventually(known, "all are answered", run.timeout)]
            except AssertionError:
                states = []
    right = states.count("delivered")
    run.holds("pushes answered 103, 100, then 200 that count as delivered", right == 10, f"{right} of 10", "10 of 10")


def attack_kill(run):
    """An old program wrote, heard nothing, and believes that all of it was taken."""
    lab, upstream = started(run, Upstream)
    emulator = lab.emulator
    emulator.stop()
    with upstream:
        upstream.otherwise = "late"
        emulator.start(*flags(lab, upstream))
        with send(emulator, TOKENS):
            waiting = lambda: sum(
                emulator.metric(f"apns_emulator_forward_{part}") for part in ("queue", "under_way"))
            eventually(lambda: waiting() >= len(TOKENS), "all wait for the upstream", run.timeout)
            emulator.kill()
        upstream.otherwise = 200
        emulator.start(*flags(lab, upstream))
        missing = lambda: {token.hex() for token in TOKENS} - set(upstream.taken)
        try:
            eventually(lambda: not missing(), "all have arrived", run.timeout)
        except AssertionError:
            pass
        lost = len(missing())
    run.holds("pushes lost by kill -9 of the bridge", lost == 0, f"{lost} of {len(TOKENS)}", "0")
