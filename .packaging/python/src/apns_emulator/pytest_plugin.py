"""Fixtures for pytest: one emulator for the session (with pytest-xdist: one for each worker), reset before each test."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterator, List, Optional

import pytest

from .advice import Finding
from .console import ConsoleError
from .credentials import Key
from .devices import Device
from .emulator import Emulator
from .process import EmulatorError
from .pushes import Push

if TYPE_CHECKING:
    Advice = Callable[..., List[Finding]]
    WaitForPush = Callable[..., Push]

DEFAULT_TOPIC = "com.example.app"
DEFAULT_TEAM = "TEAM123456"
LEVELS = ("error", "warning")
ALLOWED = "apns_advice_allowed"
"""A marker: findings that a test may leave."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("apns-emulator")
    group.addoption(
        "--apns-emulator-flags", metavar="FLAGS", help="flags for `apns-emulator serve`, beside those of the ini file"
    )
    group.addoption(
        "--apns-advice", choices=LEVELS, help="fail a test whose provider leaves a finding of this severity or worse"
    )
    parser.addini("apns_advice", "the same as --apns-advice: error or warning", default="")
    parser.addini("apns_emulator_flags", "flags for `apns-emulator serve`", default="")
    parser.addini("apns_emulator_topic", "bundle id of the app on apns_device", default=DEFAULT_TOPIC)
    parser.addini("apns_emulator_team", "team of apns_key", default=DEFAULT_TEAM)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{ALLOWED}(id, ...): findings that --apns-advice lets this test leave")
    if _level(config) not in (None, *LEVELS):
        raise pytest.UsageError(f"apns_advice expects error or warning, got {_level(config)!r}")


@pytest.fixture(scope="session")
def apns_emulator_session(pytestconfig: pytest.Config) -> Iterator[Emulator]:
    """The emulator of the session, for fixtures that live as long. ``apns_emulator`` resets it before each test."""
    words = shlex.split(pytestconfig.getini("apns_emulator_flags"))
    words += shlex.split(pytestconfig.getoption("--apns-emulator-flags") or "")
    with Emulator(*words) as emulator:
        yield emulator


@pytest.fixture
def apns_emulator(apns_emulator_session: Emulator) -> Emulator:
    """Apple's push service, as if it had just been started."""
    apns_emulator_session.reset()
    return apns_emulator_session


@pytest.fixture
def apns_device(apns_emulator: Emulator, pytestconfig: pytest.Config) -> Iterator[Device]:
    """A phone with an app, ``com.example.app`` unless the ini file says ``apns_emulator_topic``: push to its ``token``."""
    device = apns_emulator.device("phone-1", str(pytestconfig.getini("apns_emulator_topic")))
    yield device
    device.disconnect()


@pytest.fixture
def apns_key(apns_emulator: Emulator, pytestconfig: pytest.Config) -> Key:
    """A token key to push with."""
    return apns_emulator.issue_key(str(pytestconfig.getini("apns_emulator_team")))


@pytest.fixture
def wait_for_push(apns_emulator: Emulator) -> WaitForPush:
    """``wait_for_push(topic=…, udid=…, timeout=5)``: the push, or a failure that says what came instead."""
    return apns_emulator.wait_for_push


@pytest.fixture
def apns_advice(apns_emulator: Emulator) -> Advice:
    """``apns_advice("error")``: what the code under test has done against Apple's advice, of this severity or worse."""
    return apns_emulator.advice


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Fails a test that leaves advice, if asked for; and shows, with a test that has failed, what was pushed in it."""
    outcome = yield
    report = outcome.get_result()
    emulator = getattr(item, "funcargs", {}).get("apns_emulator")
    if report.when != "call" or not isinstance(emulator, Emulator):
        return
    level = _level(item.config)
    if level and report.passed:
        complaint = _complaint(item, emulator, level)
        if complaint:
            report.outcome, report.longrepr = "failed", complaint
    if report.failed:
        _show_pushes(report, emulator)


def _level(config: pytest.Config) -> Optional[str]:
    return config.getoption("--apns-advice") or config.getini("apns_advice") or None


def _complaint(item: pytest.Item, emulator: Emulator, level: str) -> Optional[str]:
    """What a test has left that it may not; ``None`` if all is well."""
    allowed = {name for mark in item.iter_markers(ALLOWED) for name in mark.args}
    try:
        left = [each for each in emulator.advice(level) if each.id not in allowed]
    except (ConsoleError, EmulatorError) as error:
        return f"apns-emulator: can't ask for advice: {error}"
    if not left:
        return None
    head = f"{len(left)} finding{'s' if len(left) > 1 else ''} about the provider, of severity {level} or worse"
    return "\n".join([head + ":", *map(str, left)])


def _show_pushes(report: Any, emulator: Emulator) -> None:
    try:
        pushes = emulator.notifications()[-20:]
    except EmulatorError as error:
        pushes = []
        report.sections.append(("apns-emulator", f"gone: {error}"))
    if pushes:
        report.sections.append(("pushes that the emulator got", "\n".join(map(str, pushes))))
