"""What `make drills` is made of: its table of clients, and the page that it writes. The drills themselves take most of an hour."""

import os
import subprocess
import sys

import pytest

from harness import BINARY, TIMEOUT

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "Drills"))

import clients  # noqa: E402
import page  # noqa: E402
import shared_faults  # noqa: E402

# What programs have in common, and what runs the examples.
PARTS = {"batch.py", "old_ssl.py", "provider_token.php", "example.sh"}
FACTS = {"pushes": 100, "date": "2026-01-02", "version": "1.2", "python": "Python 3.11", "system": "Debian"}


def drill(id, verdict="ok", **counts):
    return {"id": id, "verdict": verdict, "passed": verdict not in ("FAIL", "hangs"), "sentence": f"of {id}", "status": 0} | dict.fromkeys(
        ("lost", "doubled", "reported", "never", "refused"), 0) | counts


def result(name, *drills, protocol="http2", is_ours=False):
    return {
        "name": name, "protocol": protocol, "about": "made up", "version": "1", "path": "Tests/Drills/programs/batch.py",
        "isOurs": is_ours, "drills": list(drills)}


def test_every_program_is_drilled():
    programs = {os.path.basename(client.program) for client in clients.CLIENTS if not client.is_ours}
    assert programs | PARTS == set(os.listdir(os.path.join(clients.HERE, "programs"))) - {"__pycache__"}
    assert len({client.key for client in clients.CLIENTS}) == len(clients.CLIENTS)


def test_there_is_a_word_of_advice_for_every_drill():
    listed = subprocess.run([BINARY, "drill", "--list"], capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout
    known = [id for table in shared_faults.TABLES for id in table.drills]
    assert sorted(known) == sorted(line.split()[0] for line in listed.splitlines())
    assert shared_faults.OF_DEAD_TOKENS <= set(known)


@pytest.mark.parametrize(("told", "word"), [
    (drill("shutdown"), "ok"),
    (drill("shutdown", "FAIL", lost=3, refused=3), "lost 3"),
    (drill("shutdown", "FAIL", lost=3, refused=3, status=1), "error, lost 3"),
    (drill("shutdown", "FAIL", lost=3, reported=3, status=1), "reported 3"),
    (drill("goaway-graceful", "FAIL", lost=29, doubled=2), "lost 29, doubled 2"),
    (drill("unregistered", "FAIL"), "fails"),
    (drill("no-answer", "hangs", lost=50), "hangs"),
    (drill("slow-answers", "hangs", lost=50), "slow"),
    (drill("service-unavailable", refused=3, reported=3), "reported 3"),
    (drill("goaway-graceful", "FAIL", lost=29, reported=20), "lost 9, reported 20"),
    # Some that it told of had come all the same.
    (drill("connection-reset", "FAIL", lost=3, reported=16), "reported 3"),
    (drill("service-unavailable", "waiting", refused=3), "waits"),
    (drill("service-unavailable", "untold", refused=3), "untold"),
    # To report tokens that are gone is all that is asked for.
    (drill("unregistered", refused=10, reported=10), "ok"),
    (None, "–"),
])
def test_the_page_says_in_a_word_how_a_drill_went(told, word):
    assert page.cell(told) == word


def test_the_page_has_tables_for_each_protocol_and_says_what_many_share():
    lost = drill("goaway-graceful", "FAIL", lost=29)
    results = [
        result("first", lost), result("second", lost), result("third", lost, drill("shutdown", "FAIL", lost=1, reported=1)),
        result("fourth", drill("goaway-graceful")), result("ours", lost, is_ours=True),
        result("old", drill("binary-feedback", "FAIL"), protocol="binary")]
    left_out = [{"name": "ancient", "version": "0.1", "about": "made up", "why": "it can't be loaded"}]
    text = page.Page(results, left_out, FACTS).text
    program = "../Tests/Drills/programs/batch.py"
    goaway, answers = text[text.index("## HTTP/2: GOAWAY"):text.index("## HTTP/2: conn")], text[text.index("## HTTP/2: rejections"):]
    assert "| client | [goaway-graceful](drills.md#goaway-graceful) |\n|---|---|\n" in goaway
    assert f"| [first]({program}) | **lost 29** |" in goaway and f"| [fourth]({program}) | ok |" in goaway
    assert f"| [third]({program}) | reported 1 |" in answers and f"| [first]({program}) | – |" in answers
    assert f"| [third]({program}) | 1 | made up | 0 | 1 | 1 |" in text
    assert "## The binary protocol\n\n| client | [feedback](drills.md#binary-feedback) |" in text and f"| [old]({program}) | **fails** |" in text
    assert "**GOAWAY** (3 of 4 clients)." in goaway and "**503 Shutdown**" not in text
    assert "- ancient 0.1 (made up): it can't be loaded" in text


def test_the_page_says_what_a_word_leaves_out():
    text = page.Page([result("first", drill("unregistered", "FAIL"), drill("tls-alert", "FAIL", lost=3))], [], FACTS).text
    assert text[text.index("## What the tables leave out"):].splitlines()[2:] == ["- first, `unregistered`: of unregistered."]
