"""Every row of the probe table, as a test of its own. The table itself is printed at the end of the run."""

import os
import re

import pytest

import probe_table
from probes import ALL


@pytest.fixture(scope="module")
def labs(make_lab):
    """The emulators that the probes name, each started once."""
    started = {}

    def find(name):
        if name not in started:
            started[name] = make_lab(*probe_table.FLAGS[name])
            started[name].prepare_for_probes(name == "plain")
        return started[name]

    return find


@pytest.mark.parametrize("probe", ALL, ids=lambda probe: f"{probe.section}: {probe.name}")
def test_apple_answers(labs, probe):
    result = probe_table.run(labs(probe.lab), probe)
    assert result.is_right, f"expected {probe.expected!r}\ngot {result.got!r}\nconsole {result.console}"


def test_every_reason_is_reached():
    """After all rows; where only some were asked there is nothing to say."""
    if len(probe_table.results) < len(ALL):
        pytest.skip("not all rows were asked")
    reached = probe_table.reached(probe_table.results)
    missing = {reason for table in probe_table.reasons().values() for reason in table} - reached
    assert not missing


def test_sections_are_headings():
    """What the first column says can be looked up."""
    folder = os.path.join(os.path.dirname(__file__), "..", "..", "..", "Documentation")
    headings = set()
    for page in ("provider-api.md", "binary-protocol.md", "faults.md"):
        with open(os.path.join(folder, page)) as file:
            headings |= {
                re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").strip().lower()).replace(" ", "-")
                for line in file if line.startswith("#")}
    assert {probe.section for probe in ALL} - headings == set()
