"""Advice in the tests of others, about a provider that loses pushes."""

import pathlib
import shutil

import pytest

from apns_emulator import Finding

from legacy_provider import lose

PROVIDER = pathlib.Path(__file__).with_name("legacy_provider.py")
LOSES = """
import pytest
from legacy_provider import TOPIC, lose

"""


@pytest.fixture
def plugin(pytester):
    """A folder for tests that have the provider."""
    shutil.copy(PROVIDER, pytester.path)
    return pytester


def test_what_was_lost_behind_a_rejected_push_is_told(apns_emulator, apns_device, apns_advice):
    assert apns_advice("error") == []
    lose(apns_emulator, apns_device, 9)
    found = {each.id: each for each in apns_advice()}
    lost = found["lost-after-error"]
    assert isinstance(lost, Finding)
    assert (lost.severity, lost.count, lost.interface, lost.connections, lost.peer) == ("error", 9, "gateway", 1, "127.0.0.1")
    assert "com.example.app" in lost.credential and "9" in lost.sentence and lost.remedy
    assert lost.first <= lost.last and lost.faults == {} and lost.raw["id"] == "lost-after-error"
    assert str(lost).startswith(f"error lost-after-error: {lost.sentence}\n")
    assert apns_advice(id="lost-after-error") == [lost] and lost in apns_advice("error")
    apns_emulator.reset("advice")
    assert apns_advice("error") == []


def test_a_test_that_leaves_advice_fails_if_asked_to(plugin):
    plugin.makepyfile(LOSES + """
def test_loses(apns_emulator, apns_device):
    lose(apns_emulator, apns_device, 9)


def test_is_fine(apns_emulator, apns_device):
    apns_emulator.send(apns_device.token, TOPIC, {"aps": {"alert": "Hello"}})


def test_has_no_emulator():
    pass
""")
    plugin.runpytest_subprocess().assert_outcomes(passed=3)
    result = plugin.runpytest_subprocess("--apns-advice=error")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["1 finding about the provider, of severity error or worse:", "error lost-after-error: *9*"])
    result.stdout.fnmatch_lines(["*pushes that the emulator got*"])


def test_a_test_may_say_what_it_leaves(plugin):
    plugin.makeini("[pytest]\napns_advice = error\n")
    plugin.makepyfile(LOSES + """
@pytest.mark.apns_advice_allowed("lost-after-error")
def test_may(apns_emulator, apns_device):
    lose(apns_emulator, apns_device, 9)


@pytest.mark.apns_advice_allowed("no-push-type")
def test_may_something_else(apns_emulator, apns_device):
    lose(apns_emulator, apns_device, 9)
""")
    plugin.runpytest_subprocess("--strict-markers").assert_outcomes(passed=1, failed=1)


@pytest.mark.parametrize("words, ini, sentence", [
    (["--apns-advice=note"], "", "*invalid choice*"), ([], "apns_advice = loud", "*apns_advice expects error or warning, got 'loud'*")])
def test_a_severity_that_is_none_is_told(pytester, words, ini, sentence):
    pytester.makeini(f"[pytest]\n{ini}\n")
    pytester.makepyfile("def test_it(): pass")
    result = pytester.runpytest_subprocess(*words)
    assert result.ret == 4
    result.stderr.fnmatch_lines([sentence])
