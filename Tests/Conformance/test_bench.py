"""`bench`: what it tells people and programs. How fast anything is, is no matter here."""

import json
import subprocess

import pytest

from harness import BINARY, TIMEOUT


def bench(folder, *arguments):
    return subprocess.run(
        [BINARY, "bench", *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
        timeout=TIMEOUT)


def check(row, runs, processors):
    """What holds of each row, whatever was measured."""
    assert set(row) == {"benchmark", "name", "unit", "aim", "met", "minimum", "maximum", "runs"}
    assert [each["run"] for each in row["runs"]] == list(range(1, runs + 1))
    judged = [each["value"] if each["ratio"] is None else each["ratio"] for each in row["runs"]]
    assert (row["minimum"], row["maximum"]) == (min(judged), max(judged))
    if row["aim"] is None:
        assert row["met"] is None
    else:
        [(word, limit)] = row["aim"].items()
        met = [figure >= limit if word == "atLeast" else figure <= limit for figure in judged]
        assert [each["met"] for each in row["runs"]] == met and row["met"] == all(met)
    for each in row["runs"]:
        if each["ratio"] is not None:
            assert each["ratio"] == pytest.approx(each["value"] / each["reference"])
        check_load(each, processors)


def check_load(figure, processors):
    if figure["bottleneck"] is None:
        assert figure["server"] is figure["generator"] is None
        return
    assert figure["bottleneck"] in {"server", "generator", "both", "machine", "neither"}
    for side in (figure["server"], figure["generator"]):
        # A load is at least 200 ms, of which 10 on either end are not known exactly.
        assert 0 <= side["percent"] <= 100 * processors + 10, figure
        assert 0 <= side["busiestThreadPercent"] <= 110, figure


FRAMES = 60_000


def test_two_runs_of_the_gateway_as_json(tmp_path):
    result = bench(
        tmp_path, "gateway", "--quick", "--json", "--runs", "2", "--frames", f"{FRAMES}", "--online-frames", "0",
        "--many-tokens", "0", "--idle", "0")
    report = json.loads(result.stdout)
    assert set(report) == {"quick", "runs", "processors", "rows"}
    assert (report["quick"], report["runs"]) == (True, 2) and report["processors"] >= 1
    assert [row["name"] for row in report["rows"]] == ["TLS sink (reference)", "offline, 1,000 tokens", "start to ready"]
    for row in report["rows"]:
        assert row["benchmark"] == "gateway"
        check(row, 2, report["processors"])
    sink, offline, start = report["rows"]
    assert (sink["unit"], offline["unit"], start["unit"]) == ("/s", "/s", "ms")
    assert [each["ratio"] for each in sink["runs"]] == [1, 1]
    assert [each["reference"] for each in offline["runs"]] == [each["value"] for each in sink["runs"]]
    for each in offline["runs"]:
        # Nothing is said of a load that is over too soon.
        if FRAMES / each["value"] > 0.25:
            assert each["server"]["percent"] > 5, each
    assert start["aim"] == {"atMost": 30} and all(each["server"] is None for each in start["runs"])
    assert "measuring: run 2 of 2: offline\n" in result.stderr


def test_one_run_of_capture_as_a_table(tmp_path):
    result = bench(
        tmp_path, "capture", "--quick", "--frames", "1000", "--online-frames", "0", "--requests", "0", "--replayed", "1000")
    heading, *rows = result.stdout.splitlines()
    assert heading.split() == ["value", "ratio", "server", "generator", "bottleneck", "aim", "met"]
    assert [row.split("  ")[0] for row in rows if row.strip()][:4] == [
        "offline (reference)", "offline: stream, capture, history", "load generator (reference)", "replay --speed max"]
    assert rows[-1] == "With --quick the counts are small, so the figures are rough."


def test_the_provider_without_handshakes_and_soak(tmp_path):
    result = bench(tmp_path, "provider", "--quick", "--requests", "1000", "--handshakes", "0", "--soak", "0")
    names = [row.split("  ")[0] for row in result.stdout.splitlines()]
    assert "offline and stored, all checks" in names
    assert not any("connections, P-256" in name or "memory" in name for name in names), names
