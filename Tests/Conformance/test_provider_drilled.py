"""A provider with one fault at a time: drills fail that are about it, and advice names it, and finds no other error."""

import json
import os
import subprocess
import sys

import pytest

from harness import BINARY, TIMEOUT, eventually

PROVIDER = os.path.join(os.path.dirname(__file__), "provider_drilled.py")
# What a drill waits for where a provider hangs, twice.
DRILL_TIMEOUT = 4 * TIMEOUT
# Tokens of a run: enough for each fault to be seen.
PUSHES = 50
# For a provider that hangs: how long a run may take, as a drill that fails is run twice. The run without a fault has to be over by then,
# also on a busy machine.
HANGS = {"pushes": 20, "flags": ("--timeout", "4s")}


def drilled(folder, protocol, fault, *drills, pushes=PUSHES, flags=()):
    """The report of these drills, of all if none is named."""
    only = [word for drill in drills for word in ("--only", drill)]
    command = [sys.executable, PROVIDER, "--protocol", protocol, *(["--fault", fault] if fault else [])]
    done = subprocess.run(
        [BINARY, "drill", "--json", "--jobs", "2", "--pushes", str(pushes), *flags, *only, "--", *command], cwd=folder, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=DRILL_TIMEOUT)
    assert done.returncode in (0, 1, 2) and done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def findings(report, severity=None):
    """Ids, of the baseline and of all drills."""
    return {finding["id"] for result in (report["baseline"], *report["drills"]) for finding in result["advice"]
            if severity in (None, finding["severity"])}


def drills_of(protocol):
    """In the order of the list."""
    listed = subprocess.run([BINARY, "drill", "--list"], check=True, capture_output=True, text=True).stdout
    return [words[0] for words in map(str.split, listed.splitlines()) if words[1] == protocol]


@pytest.mark.parametrize(("protocol", "part", "parts"), [*(("http2", part, 4) for part in range(4)), ("binary", 0, 1)])
def test_the_provider_without_a_fault_passes_all_drills(tmp_path, protocol, part, parts):
    drills = drills_of(protocol)[part::parts]
    status, report = drilled(tmp_path, protocol, None, *drills)
    assert [each["id"] + ": " + each["sentence"] for each in report["drills"] if each["verdict"] != "ok"] == []
    assert status == 0 and report["passed"] and len(drills) >= 5
    assert [each["id"] for each in report["drills"]] == drills
    assert findings(report, "error") == set()


# Faults with which the provider does not come to an end in time.
HANGING = {"ignores-goaway", "connection-per-push"}
# What follows from a fault: who never leaves a connection loses what was sent on it.
CONSEQUENCES = {"ignores-goaway": {"lost-at-goaway"}}


@pytest.mark.parametrize(("protocol", "fault", "drill", "finding"), [
    ("http2", "ignores-goaway", "goaway-kept-open", "streams-after-goaway"),
    ("http2", "drops-above-goaway", "goaway-graceful", "lost-at-goaway"),
    ("http2", "connection-per-push", "slow-answers", "connection-per-push"),
    ("http2", "retries-410", "unregistered", "pushes-to-gone-token"),
    ("http2", "retries-503", "service-unavailable", "retry-without-pause"),
    ("binary", "drops-behind-error", "binary-one-bad-token", "lost-after-error"),
    ("binary", "resends-from-the-start", "binary-one-bad-token", "resent-from-the-start"),
    ("binary", "ignores-error-packet", "binary-late-error", "lost-after-error"),
])
def test_a_fault_is_named_by_a_drill_and_by_advice(tmp_path, protocol, fault, drill, finding):
    status, report = drilled(tmp_path, protocol, fault, drill, **HANGS if fault in HANGING else {})
    [result] = report["drills"]
    assert status == 1 and not result["passed"], result
    assert finding in findings(report)
    assert findings(report, "error") <= {finding} | CONSEQUENCES.get(fault, set())


def test_one_stream_at_a_time_is_too_slow_for_slow_answers(tmp_path):
    status, report = drilled(tmp_path, "http2", "one-stream", "slow-answers", **HANGS)
    assert status == 1 and not report["drills"][0]["passed"] and findings(report, "error") == set()


def test_one_stream_at_a_time_is_noted(tmp_path):
    # The note wants a hundred pushes within half a second, for which a busy machine takes longer.
    eventually(
        lambda: "one-stream-at-a-time" in findings(drilled(tmp_path, "http2", "one-stream", "unregistered", pushes=100)[1]),
        "advice has seen the pushes go one by one")


def test_a_provider_token_for_each_push_is_refused_at_once(tmp_path):
    """Apple takes so few that the batch itself fails: there is nothing to drill."""
    status, report = drilled(tmp_path, "http2", "token-per-push")
    assert status == 2 and "TooManyProviderTokenUpdates" in report["baseline"]["sentence"]
    assert "token-renewed-too-often" in findings(report)
    assert findings(report, "error") <= {"token-renewed-too-often"}
