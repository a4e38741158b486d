"""Drills by the command: what it lists, says and keeps, and programs that can't be drilled, hang, or leave something behind.
`test_provider_drilled.py` has a provider with one fault at a time."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import xml.etree.ElementTree

import pytest

from harness import BINARY, TIMEOUT, eventually

PROVIDER = [sys.executable, str(pathlib.Path(__file__).parent / "provider_drilled.py")]
# Seconds. Each run waits for what the fault is about, and one that fails is run again.
LONG = 900


def environment(folder):
    """What is made for a run lies in the folder, so that what stays is seen."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("APNS_EMULATOR")}
    return inherited | {"TMPDIR": str(folder)}


def drill(folder, *arguments, timeout=LONG):
    return subprocess.run(
        [BINARY, "drill", *map(str, arguments)], cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=timeout, check=False)


def verdicts(done):
    return {each["id"]: each for each in json.loads(done.stdout)["drills"]}


def processes_of(folder):
    """Those whose variables name the folder, but for this one."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            variables = (entry / "environ").read_bytes()
        except OSError:
            continue
        if os.fsencode(str(folder)) in variables and int(entry.name) != os.getpid():
            found.append(entry.name)
    return found


def test_all_drills_of_its_protocols_are_run_and_the_others_named(tmp_path):
    # No key is made twice, though each drill has a process of its own.
    noting = ["sh", "-c", 'cksum < "$APNS_EMULATOR_CERT" >> certificates; exec "$@"', "sh"]
    done = drill(
        tmp_path, "--jobs", 2, "--json", "--pushes", 20, "--junit", "report.xml", "--", *noting, *PROVIDER, "--protocol", "binary")
    report = json.loads(done.stdout)
    listed = [line.split() for line in drill(tmp_path, "--list").stdout.splitlines()]
    assert [each["id"] for each in report["drills"]] == [line[0] for line in listed if line[1] == "binary"]
    assert [each["id"] for each in report["skipped"]] == [line[0] for line in listed if line[1] == "http2"]
    assert {each["because"] for each in report["skipped"]} == {"CMD does not speak HTTP/2"}
    assert done.returncode == 0 and report["passed"], report
    suite = xml.etree.ElementTree.parse(tmp_path / "report.xml").getroot()
    assert [suite.get(name) for name in ("tests", "failures", "skipped")] == [str(len(listed) + 1), "0", str(len(report["skipped"]))]
    assert len(set((tmp_path / "certificates").read_text().splitlines())) == 1
    # Each process has removed what it has made.
    assert {entry.name for entry in tmp_path.iterdir()} == {"report.xml", "certificates"}


def test_the_table_says_what_came_of_each_push_and_how_to_see_it_again(tmp_path):
    command = [*PROVIDER, "--protocol", "binary", "--fault", "drops-behind-error"]
    done = drill(tmp_path, "--only", "binary-one-bad-token", "--pushes", 20, "--keep", "kept", "--", *command)
    assert done.returncode == 1
    head, baseline, row, *rest = done.stdout.splitlines()
    assert head.split() == ["drill", "sent", "once", "twice", "never", "refused", "took", "verdict"]
    assert baseline.split()[:6] == ["baseline", "20", "20", "0", "0", "0"]
    assert row.split()[0] == "binary-one-bad-token" and "FAIL" in row
    assert rest[-1].split() == ["apns-emulator", "drill", "--only", "binary-one-bad-token", "--pushes", "20", "--", *command]
    assert "drill 1 of 1: binary-one-bad-token" in done.stderr
    for run in ("baseline", "binary-one-bad-token", "binary-one-bad-token-again"):
        names = {entry.name for entry in (tmp_path / "kept" / run).iterdir()}
        assert names >= {"capture.ndjson", "emulator.log", "command.log", "tokens.txt", "report.txt"}
        assert len((tmp_path / "kept" / run / "tokens.txt").read_text().split()) == 20
        # Phones that connect in the same millisecond are not taken for one that shows its proof twice.
        assert "device refused" not in (tmp_path / "kept" / run / "emulator.log").read_text()


@pytest.mark.parametrize(
    "script, words", [
        ("echo no such host; exit 3", "it ended with status 3, and sent nothing"),
        ("true", "it ended with status 0, and sent nothing"),
        ("kill -9 $$", "it ended with status 137, and sent nothing"),
    ])
def test_a_command_that_fails_without_a_fault_is_told_what_it_should_do(tmp_path, script, words):
    done = drill(tmp_path, "--pushes", 10, "--", "sh", "-c", script)
    assert done.returncode == 2
    assert words in done.stderr and "CMD has to send one push to each token of the file" in done.stderr
    assert script != "echo no such host; exit 3" or "  no such host\n" in done.stderr
    assert processes_of(tmp_path) == [] and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments, words", [
        (["--only", "goaway-gracefull", "--", "true"], "did you mean goaway-graceful?"),
        (["--only", "goaway", "--", "true"], "goaway-graceful, goaway-kept-open, goaway-zero, goaway-highest"),
        ([], "drill needs -- and a command to run"),
        (["--timeout", "5ms", "--", "true"], "--timeout is 100ms to 600s, not 5ms"),
        (["--", "no-such-program-here"], "no-such-program-here"),
    ])
def test_what_makes_no_sense_is_status_2_with_a_hint(tmp_path, arguments, words):
    done = drill(tmp_path, *arguments)
    assert done.returncode == 2 and words in done.stderr, done.stderr


def test_a_command_that_hangs_is_ended_with_all_that_it_has_started(tmp_path):
    script = f'{" ".join(PROVIDER)}; if mkdir {tmp_path}/first; then exit 0; fi; trap "" TERM; sleep 1000 & setsid sleep 1000'
    done = drill(tmp_path, "--json", "--only", "shutdown", "--pushes", 10, "--timeout", "4s", "--", "sh", "-c", script)
    result = verdicts(done)["shutdown"]
    assert done.returncode == 1
    assert result["verdict"] == "hangs" and "still running after 4.0 s" in result["sentence"], result
    assert "--timeout 4000ms" in result["again"]
    assert processes_of(tmp_path) == []


def test_what_a_command_leaves_behind_is_ended_and_told(tmp_path):
    script = f'(setsid sleep 1000 &) ; exec {" ".join(PROVIDER)}'
    done = drill(tmp_path, "--json", "--only", "shutdown", "--pushes", 10, "--", "sh", "-c", script)
    report = json.loads(done.stdout)
    assert done.returncode == 0, report
    assert report["baseline"]["notes"] == ["CMD left 1 process behind, which was ended"]
    assert processes_of(tmp_path) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_signal_ends_it_with_its_command(tmp_path, jobs):
    script = f'if mkdir {tmp_path}/first; then exec {" ".join(PROVIDER)}; fi; touch {tmp_path}/second; sleep 1000'
    arguments = ["--jobs", str(jobs), "--only", "shutdown", "--only", "no-answer", "--pushes", "10"]
    with subprocess.Popen(
            [BINARY, "drill", *arguments, "--", "sh", "-c", script], cwd=tmp_path, env=environment(tmp_path),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        eventually((tmp_path / "second").exists, "the second run has begun")
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT) == 128 + signal.SIGTERM
    assert processes_of(tmp_path) == []
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["first", "second"]
