"""A bridge that is killed: nothing that the old program believes accepted is lost, and a repeated push is recognisable."""

import json
import os
import random
import time

from harness import TIMEOUT, eventually
from legacy import enhanced
from test_forward import behind, bridge, key, key_path, upstream  # noqa: F401 (fixtures)

ROUNDS = max(1, int(os.environ.get("CRASH_ROUNDS", "20")) // 2)
SEED = int(os.environ.get("CRASH_SEED", "1"))
# The number of a push travels in its expiration, which is a header field on the other side.
EXPIRY = 0x70000000
PAYLOAD = b'{"aps":{"alert":""}}'
TOKENS = [bytes([number]) * 32 for number in range(1, 41)]


class Sender:
    """Numbered pushes to tokens at random, on one connection."""

    def __init__(self, bridge, chance, last):
        self.provider, self.chance, self.number = bridge.provider(), chance, last
        # Where each frame ends on the connection, with its number and token.
        self.ends, self.size = [], 0

    def send(self, count):
        frames = b""
        for _ in range(count):
            self.number += 1
            token = self.chance.choice(TOKENS)
            text = "x" * self.chance.choice((0, 20, 200, 1500))
            payload = json.dumps({"aps": {"alert": text}}).encode()
            frame = enhanced(self.number, token, payload, EXPIRY + self.number)
            self.size += len(frame)
            self.ends.append((self.size, self.number))
            frames += frame
        self.provider.send(frames)

    def read(self, count):
        """Numbers of the frames that were read whole when so many bytes were."""
        return [number for end, number in self.ends if end <= count]


def numbers(requests):
    """The number of each and its apns-id."""
    return [(int(request["apns-expiration"]) - EXPIRY, request["apns-id"]) for request in list(requests)]


def killed_with_one_under_way(bridge, upstream, key_path):
    upstream.otherwise = "late"
    bridge.start(upstream.port, key_path)
    with bridge.provider() as provider:
        provider.send(enhanced(1, TOKENS[0], PAYLOAD, EXPIRY + 1))
        eventually(lambda: len(upstream.requests) == 1, "it is under way")
        bridge.emulator.kill()


def test_a_killed_bridge_has_sent_or_kept_whatever_it_had_read(bridge, upstream, key_path):
    chance = random.Random(SEED)

    def unreliable(_):
        return chance.choices((200, "late", "cut", (503, "ServiceUnavailable")), (50, 45, 2, 3))[0]

    owed, last, unanswered = set(), 0, 0
    for round_number in range(ROUNDS):
        upstream.otherwise = chance.choice((200, "late", unreliable, unreliable))
        bridge.start(upstream.port, key_path, "--forward-queue", str(chance.choice((50, 10_000))))
        sender = Sender(bridge, chance, last)
        for _ in range(chance.randint(1, 4)):
            sender.send(chance.randint(1, 60))
        eventually(lambda: bridge.bytes_read() > 0, "something was read")
        time.sleep(chance.random() ** 2 * 0.3)
        # What this answer tells was committed before it.
        read = sender.read(bridge.bytes_read())
        bridge.emulator.kill()
        sender.provider.close()
        last = sender.number
        owed.update(read)
        with upstream.lock:
            unanswered += len(set(read) - {number for number, _ in numbers(upstream.accepted)})
    assert unanswered > ROUNDS, f"only {unanswered} were unanswered at a kill: this shows little"

    upstream.otherwise = 200
    bridge.start(upstream.port, key_path)
    missing = lambda: owed - {number for number, _ in numbers(upstream.accepted)}
    eventually(lambda: not missing(), f"all of {len(owed)} arrive (seed {SEED})", TIMEOUT * 2)
    eventually(lambda: bridge.emulator.metric("apns_emulator_forward_queue") == 0, "the queue is empty")

    ids = {}
    for number, identifier in numbers(upstream.requests):
        assert ids.setdefault(number, identifier) == identifier, f"{number} came under two ids"
    assert len(set(ids.values())) == len(ids), "two pushes under one id"
    # For each token in the order of coming, a repetition apart.
    newest = {}
    for request in upstream.accepted:
        [(number, _)] = numbers([request])
        path = request[":path"]
        if number not in newest.setdefault(path, []):
            assert not newest[path] or number > newest[path][-1], f"{number} came behind {newest[path][-1]}"
            newest[path].append(number)
    # Nothing is left for another start.
    bridge.emulator.kill()
    count = len(upstream.requests)
    bridge.start(upstream.port, key_path)
    with bridge.provider() as provider:
        provider.send(enhanced(1, b"\xff" * 32, PAYLOAD, EXPIRY))
        eventually(lambda: any(number == 0 for number, _ in numbers(upstream.accepted)), "a new one arrives")
    assert len(upstream.requests) == count + 1


def test_an_orderly_end_keeps_what_nobody_will_send_again(bridge, upstream, key_path):
    upstream.otherwise = "late"
    bridge.start(upstream.port, key_path)
    with bridge.provider() as provider:
        provider.send(b"".join(enhanced(n, bytes([n]) * 32, PAYLOAD, EXPIRY + n) for n in range(1, 4)))
        eventually(lambda: len(upstream.requests) == 3, "they are under way")
    assert bridge.emulator.stop() == 0
    assert "notifications are stored for the next start count=3" in bridge.emulator.log()
    assert not upstream.accepted
    upstream.otherwise = 200
    bridge.start(upstream.port, key_path)
    eventually(lambda: len(upstream.accepted) == 3, "they arrive")
    assert sorted(upstream.ids[:3]) == sorted(upstream.ids[3:])


def test_without_forward_they_wait_and_the_log_says_so(bridge, upstream, key_path):
    killed_with_one_under_way(bridge, upstream, key_path)
    bridge.emulator.start()
    bridge.emulator.told("notifications wait to be forwarded count=1")
    assert bridge.emulator.stop() == 0
    upstream.otherwise = 200
    bridge.start(upstream.port, key_path)
    eventually(lambda: len(upstream.accepted) == 1, "it arrives")


def test_a_token_that_is_found_gone_after_a_restart_becomes_feedback(bridge, upstream, key_path):
    killed_with_one_under_way(bridge, upstream, key_path)
    upstream.otherwise = (410, "Unregistered")
    bridge.start(upstream.port, key_path)
    eventually(lambda: bridge.emulator.metric("apns_emulator_feedback_entries") == 1, "it becomes feedback")
    assert upstream.ids[0] == upstream.ids[1]
    assert bridge.notifications()[0]["state"] == "discarded"


def test_a_provider_behind_what_expires_while_the_service_is_down_is_let_in(bridge, upstream, key_path):
    """Kept pushes of one token go one at a time, and none of a provider overtakes them."""
    upstream.otherwise = "late"
    bridge.start(upstream.port, key_path)
    soon = int(time.time()) + 3600
    with bridge.provider() as one, bridge.provider() as other:
        for number, provider in enumerate((one, other), 1):
            provider.send(enhanced(number, TOKENS[0], PAYLOAD, soon))
        eventually(lambda: len(upstream.requests) == 2, "they are under way")
        bridge.emulator.kill()
    upstream.close()
    queued = lambda: bridge.emulator.metric("apns_emulator_forward_queue")
    bridge.start(upstream.port, key_path)
    assert queued() == 2
    with bridge.provider() as provider:
        frame = enhanced(3, TOKENS[0], PAYLOAD, EXPIRY)
        provider.send(frame)
        eventually(lambda: bridge.bytes_read() == len(frame), "it was read")
        assert queued() == 2
        bridge.emulator.api("PUT", "/api/v1/clock", {"advance": "2h"})
        states = lambda: [notification["state"] for notification in bridge.notifications()[-3:]]
        eventually(lambda: states() == ["expired", "expired", "stored"], "it takes the place of those that expired")
        assert queued() == 1


def test_an_ephemeral_bridge_keeps_nothing(bridge, upstream, key_path):
    upstream.otherwise = "late"
    bridge.start(upstream.port, key_path, "--ephemeral")
    with bridge.provider() as provider:
        provider.send(enhanced(1, TOKENS[0], PAYLOAD, EXPIRY + 1))
        eventually(lambda: len(upstream.requests) == 1, "it is under way")
        bridge.emulator.kill()
    bridge.start(upstream.port, key_path, "--ephemeral")
    assert bridge.emulator.metric("apns_emulator_forward_queue") == 0
