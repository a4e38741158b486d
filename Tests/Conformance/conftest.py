import gc
import os
import shutil
import sys

import pytest

# Several folders share the raw HTTP/2 client of the providers' tests, and the attackers' rig.
sys.path += [os.path.join(os.path.dirname(os.path.abspath(__file__)), folder) for folder in ("provider", "hostile")]

import sharing  # noqa: E402
import tables  # noqa: E402
from browser import ONE_PROCESS, Browser  # noqa: E402
from harness import TOPIC, Emulator  # noqa: E402
from lab import prepare  # noqa: E402
from made_once import made_once  # noqa: E402
from modern import issue_key  # noqa: E402
from nodes import Cluster  # noqa: E402
from rig import issue_devices  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: looks at how long something takes, so that no other test may run at the same time")


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        items.sort(key=sharing.rank_of)
    # None of what is there now goes before the end: no need to look through it again and again.
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return sharing.Sharing(config, log)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    tables.hand_over(session.config)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    tables.take_over(node)


def pytest_terminal_summary(terminalreporter):
    tables.tell(terminalreporter)


@pytest.fixture(scope="session")
def issued(tmp_path_factory):
    """A certs folder with what most tests need: making keys takes longer than most tests do."""
    def make(folder):
        emulator = Emulator(folder)
        emulator.push_certificate(TOPIC)
        for number in range(6):
            emulator.device_certificate(f"phone-{number}")

    return str(made_once(tmp_path_factory, "issued", make) / "certs")


@pytest.fixture(scope="session")
def provider_folder(tmp_path_factory):
    """A certs folder with everything that providers need."""
    return str(made_once(tmp_path_factory, "provider", lambda folder: prepare(Emulator(folder))) / "certs")


@pytest.fixture(scope="session")
def hostile_certs(tmp_path_factory, provider_folder):
    """A certs folder with everything that the attacks need."""
    def make(folder):
        shutil.copytree(provider_folder, folder / "certs")
        issue_devices(Emulator(folder))

    return str(made_once(tmp_path_factory, "hostile", make) / "certs")


@pytest.fixture(scope="session")
def chromium():
    """A browser that many tests look through, one after the other: each opens its page and leaves it."""
    browser = Browser(*ONE_PROCESS)
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
    """Three nodes, and a NATS server, which the tests of a file share."""
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), issued)
    try:
        issue_key(cluster.nodes[0])
        yield cluster.start().settled()
    finally:
        cluster.stop()
