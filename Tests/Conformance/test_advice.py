"""Advice about two providers that are wrong, wherever it is told: the API, `advice`, `exec --advice`."""

import datetime
import json
import os
import sys

import pytest

from harness import BINARY, TOPIC, eventually
from modern import ModernProvider, issue_key
from wrong_provider import UNKNOWN, lose, send

GONE = "5a" * 32
WRONG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrong_provider.py")
MEMBERS = {
    "id", "severity", "provider", "connections", "count", "first", "last", "notifications", "sentence", "remedy", "evidence", "faults"}


@pytest.fixture
def token(emulator):
    return emulator.api("POST", f"/api/v1/devices/phone/apps/{TOPIC}/install")["token"]


def advice(emulator, query=""):
    return emulator.api("GET", "/api/v1/advice" + query)


def found(emulator, rule):
    return next((each for each in advice(emulator)["findings"] if each["id"] == rule), None)


def lost_pushes(emulator, token, count=9):
    """Has so many be lost, and answers what is said of it: once nobody is there who might send them again."""
    lose(emulator, token, count, *emulator.push_certificate())
    eventually(lambda: found(emulator, "lost-after-error"), "it is told what was lost")
    return found(emulator, "lost-after-error")


def test_what_was_lost_behind_a_rejected_frame_is_told(emulator, token):
    before = datetime.datetime.now(datetime.timezone.utc)
    lost = lost_pushes(emulator, token)
    assert MEMBERS <= set(lost)
    assert (lost["severity"], lost["count"], lost["connections"], lost["faults"]) == ("error", 9, 1, [])
    assert (lost["provider"]["interface"], lost["provider"]["peer"]) == ("gateway", "127.0.0.1")
    assert TOPIC in lost["provider"]["credential"] and "PRIVATE" not in json.dumps(lost)
    assert lost["evidence"] == {"page": "Documentation/advice.md", "heading": "lost-after-error"}
    assert "9" in lost["sentence"] and lost["remedy"] and len(lost["notifications"]) <= 3
    first, last = (datetime.datetime.fromisoformat(lost[name].replace("Z", "+00:00")) for name in ("first", "last"))
    assert before - datetime.timedelta(seconds=1) <= first <= last <= before + datetime.timedelta(minutes=5)


def test_findings_are_counted_and_filtered_the_worst_first(emulator, token):
    lost_pushes(emulator, token)
    told = advice(emulator)
    ranks = [("error", "warning", "note").index(each["severity"]) for each in told["findings"]]
    assert ranks == sorted(ranks)
    assert told["counts"] == {name: ranks.count(rank) for rank, name in enumerate(("error", "warning", "note"))}
    # The rejected one alone: nobody looks at what comes behind it.
    assert told["notifications"] == 1
    for query in ("?id=lost-after-error", "?severity=error", "?severity=warning&interface=gateway", "?peer=127.0.0.1&severity=error"):
        assert "lost-after-error" in [each["id"] for each in advice(emulator, query)["findings"]], query
    for query in ("?id=no-push-type", "?interface=provider", "?peer=::1", "?credential=nobody"):
        assert advice(emulator, query)["findings"] == [], query


def test_frames_that_are_sent_again_are_not_lost(emulator, token):
    pair = emulator.push_certificate()
    lose(emulator, token, 9, *pair)
    # The last one, which no device has, makes the gateway say that it has read all before.
    assert send(emulator, [bytes.fromhex(token)] * 9 + [UNKNOWN], *pair, first=2) == bytes.fromhex("08080000000b")
    emulator.api("POST", "/api/v1/advice/complete")
    assert found(emulator, "lost-after-error") is None


def test_a_token_that_is_gone_and_pushed_to_again_is_told(emulator):
    issue_key(emulator)
    emulator.api("POST", "/api/v1/import", {"version": 1, "devices": [
        {"udid": "old-phone", "apps": [{"topic": TOPIC, "token": GONE, "state": "gone"}]}]})
    with ModernProvider(emulator) as provider:
        for _ in range(3):
            assert provider.push(GONE, {"aps": {"alert": "Hello"}})[0] == 410
    gone = found(emulator, "pushes-to-gone-token")
    assert gone["severity"] in ("warning", "error") and gone["provider"]["interface"] == "provider"
    ids = [each["id"] for each in emulator.api("GET", "/api/v1/notifications")["notifications"]]
    assert gone["notifications"] and set(gone["notifications"]) <= set(ids)


def test_a_provider_that_is_well_behaved_hears_of_no_error(emulator, token):
    said = send(emulator, [bytes.fromhex(token)] * 100 + [b""], *emulator.push_certificate())
    assert said == bytes.fromhex("080200000000")
    emulator.api("POST", "/api/v1/advice/complete")
    assert advice(emulator, "?severity=error")["findings"] == []


def test_the_command_tells_it_and_ends_as_it_is_asked_to(emulator, token):
    nothing = emulator.run("advice", "--fail-on", "warning")
    assert nothing.stdout == "nothing to say about 0 pushes\n"
    assert emulator.run("advice", "--json").stdout == emulator.run("advice", "--json", "--fail-on=warning").stdout
    lost = lost_pushes(emulator, token)
    told = emulator.run("advice")
    lines = told.stdout.splitlines()
    assert lines[0].startswith("1 error") and lines[0].endswith("about 1 push")
    assert lines[1] == f"error    lost-after-error: {lost['sentence']}" and lines[2].strip() == lost["remedy"]
    assert TOPIC in lines[3] and lines[-1] == "Documentation/advice.md explains each"
    assert found(emulator, "lost-after-error") in json.loads(emulator.run("advice", "--json").stdout)["findings"]
    for level in ("error", "warning"):
        result = emulator.run("advice", "--fail-on", level, check=False)
        assert (result.returncode, result.stdout) == (1, told.stdout)
    refused = emulator.run("advice", "--fail-on", "note", check=False)
    assert refused.returncode == 2 and "error or warning" in refused.stderr


@pytest.mark.parametrize("what", [{"what": ["advice"]}, {"what": ["notifications"]}, {}], ids=["advice", "notifications", "all"])
def test_a_reset_forgets_it(emulator, token, what):
    lost_pushes(emulator, token)
    emulator.api("POST", "/api/v1/reset", what)
    assert advice(emulator) == {"findings": [], "notifications": 0, "counts": {"error": 0, "warning": 0, "note": 0}}
    assert emulator.run("advice", "--fail-on", "warning").returncode == 0


@pytest.fixture
def run(stopped_emulator):
    """Runs the wrong provider under `exec`."""
    def run(*flags, status=0):
        program = ["env", f"APNS_EMULATOR_BINARY={BINARY}", sys.executable, WRONG, str(status)]
        return stopped_emulator.run("exec", *flags, "--", *program, check=False)

    return run


def test_exec_lists_it_at_the_end_and_ends_with_5_if_asked_to(run):
    plain = run()
    assert (plain.returncode, plain.stdout) == (0, "done\n") and "advice" not in plain.stderr
    listed = run("--advice")
    assert (listed.returncode, listed.stdout) == (0, "done\n")
    assert "apns-emulator: advice: 1 error" in listed.stderr and "\nerror    lost-after-error: " in listed.stderr
    for level in ("error", "warning"):
        failed = run(f"--advice={level}")
        assert (failed.returncode, failed.stdout) == (5, "done\n") and "lost-after-error" in failed.stderr
    # What the command says itself is not overridden.
    assert run("--advice=error", status=3).returncode == 3


def test_what_a_command_has_written_in_its_last_moment_is_not_lost(run):
    for _ in range(5):
        result = run("--advice=error", status="hurry")
        assert result.returncode == 0 and "about 200 pushes" in result.stderr, result.stderr


def test_exec_has_nothing_to_say_of_a_command_that_sends_nothing(stopped_emulator):
    result = stopped_emulator.run("exec", "--advice=warning", "--", "true")
    assert result.stderr == "apns-emulator: advice: nothing to say about 0 pushes\n"
    refused = stopped_emulator.run("exec", "--advice=loud", "--", "true", check=False)
    assert refused.returncode == 2 and "--advice expects error or warning, or nothing" in refused.stderr
