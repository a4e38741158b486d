import shutil

import pytest

from browser import Browser
from harness import TOPIC, Emulator
from modern import issue_key
from nodes import Cluster


@pytest.fixture(scope="session")
def issued(tmp_path_factory):
    """A certs folder with what most tests need: making keys takes longer than most tests do."""
    emulator = Emulator(tmp_path_factory.mktemp("issued"))
    emulator.push_certificate(TOPIC)
    for number in range(6):
        emulator.device_certificate(f"phone-{number}")
    return emulator.path("certs")


@pytest.fixture(scope="session")
def chromium():
    """A browser that many tests look through, one after the other: each opens its page and leaves it."""
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def stopped_emulator(tmp_path, issued):
    """An emulator that nobody else uses and that the test starts itself."""
    shutil.copytree(issued, tmp_path / "certs")
    emulator = Emulator(tmp_path)
    yield emulator
    emulator.stop()


@pytest.fixture
def emulator(stopped_emulator):
    """A running emulator that nobody else uses."""
    return stopped_emulator.start()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, issued):
    """Three nodes, and an engine, which the tests of a file share."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), issued)
    try:
        issue_key(cluster.nodes[0])
        yield cluster.start().settled()
    finally:
        cluster.stop()
