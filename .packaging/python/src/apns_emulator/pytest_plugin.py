"""Fixtures for pytest: one emulator for the session (with pytest-xdist: one for each worker), reset before each test."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterator

import pytest

from .credentials import Key
from .devices import Device
from .emulator import Emulator
from .process import EmulatorError
from .pushes import Push

if TYPE_CHECKING:
    WaitForPush = Callable[..., Push]

DEFAULT_TOPIC = "com.example.app"
DEFAULT_TEAM = "TEAM123456"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("apns-emulator")
    group.addoption(
        "--apns-emulator-flags", metavar="FLAGS", help="flags for `apns-emulator serve`, beside those of the ini file"
    )
    parser.addini("apns_emulator_flags", "flags for `apns-emulator serve`", default="")
    parser.addini("apns_emulator_topic", "bundle id of the app on apns_device", default=DEFAULT_TOPIC)
    parser.addini("apns_emulator_team", "team of apns_key", default=DEFAULT_TEAM)


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


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Shows, with a test that has failed, what was pushed in it."""
    outcome = yield
    report = outcome.get_result()
    emulator = getattr(item, "funcargs", {}).get("apns_emulator")
    if report.when == "call" and report.failed and isinstance(emulator, Emulator):
        try:
            pushes = emulator.notifications()[-20:]
        except EmulatorError as error:
            pushes = []
            report.sections.append(("apns-emulator", f"gone: {error}"))
        if pushes:
            report.sections.append(("pushes that the emulator got", "\n".join(map(str, pushes))))
