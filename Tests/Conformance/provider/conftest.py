import shutil

import pytest

import probe_table
import tables
from harness import Emulator
from lab import Lab


@pytest.fixture(scope="session")
def make_lab(tmp_path_factory, provider_folder):
    """Starts emulators that end with the session."""
    labs = []

    def make(*flags):
        folder = tmp_path_factory.mktemp("lab")
        shutil.copytree(provider_folder, folder / "certs")
        labs.append(Lab(Emulator(folder)).start(*flags))
        return labs[-1]

    yield make
    for lab in labs:
        lab.emulator.stop()


@pytest.fixture(scope="module")
def lab(make_lab):
    """One emulator for all tests of a file."""
    return make_lab()


def pytest_sessionfinish():
    if probe_table.results:
        tables.TABLES["Apple's answers to a provider"] = list(probe_table.lines(probe_table.results))


@pytest.fixture
def unharmed(lab):
    """Whatever the test did, the emulator serves others afterwards, and took only what the test says it took."""
    class Taken:
        accepted = 0

    before = lab.counters()["accepted"]
    yield Taken
    answer = lab.push_now(lab.token)
    assert answer.status == 200, f"{answer.status} {answer.body}"
    assert lab.counters()["accepted"] == before + Taken.accepted + 1
