"""What commands print and write: nobody is told of a success that was not written down."""

import json
import os
import socket
import stat
import subprocess
import threading

import pytest

from harness import BINARY, FREE_PORTS, TIMEOUT, TOPIC, eventually

FULL = "No space left on device"


def to_full_disk(emulator, *arguments):
    with open("/dev/full", "w") as full:
        return subprocess.run(
            [BINARY, *arguments], cwd=emulator.folder, env=emulator.environment, stdin=subprocess.DEVNULL, stdout=full,
            stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)


def check_full(emulator, *arguments):
    result = to_full_disk(emulator, *arguments)
    assert result.returncode == 1, f"{arguments} ended with {result.returncode}: {result.stderr}"
    # Nothing but the sentence.
    assert result.stderr == f"apns-emulator: can't write to standard output: {FULL}\n"


@pytest.mark.parametrize("words", [
    ["--help"], ["--version"], ["help", "serve"], ["certs"], ["config"], ["completion", "bash"], ["completion", "zsh"],
    ["certs", "push", "--topic", TOPIC], ["certs", "key", "--team", "TEAM123456"], ["certs", "device", "--udid", "phone-9"],
], ids=" ".join)
def test_a_full_disk_is_a_failure_without_an_emulator(stopped_emulator, words):
    check_full(stopped_emulator, *words)


@pytest.fixture
def installed(emulator):
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install", {})
    [row] = emulator.api("GET", "/api/v1/tokens")["tokens"]
    emulator.token = row["token"]
    return emulator


@pytest.mark.parametrize("words", [
    ["tokens"], ["tokens", "--json"], ["tokens", "--bare"], ["export"], ["export", "-"], ["health"],
    ["send", "--topic", TOPIC, "--token", "TOKEN"],
    ["send", "--topic", TOPIC, "--token", "TOKEN", "--legacy", "1", "--wait", "0.2"],
    ["tail"], ["tail", "--json"], ["device", "--udid", "phone-1", "--topic", TOPIC],
], ids=" ".join)
def test_a_full_disk_is_a_failure(installed, words):
    # `tail` prints once there is something to tell.
    stop = threading.Event()
    if words[0] == "tail":
        threading.Thread(target=provoke, args=(installed, stop), daemon=True).start()
    try:
        check_full(installed, *(installed.token if word == "TOKEN" else word for word in words))
    finally:
        stop.set()


def provoke(emulator, stop):
    while not stop.wait(0.05):
        emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/reinstall", {})


def test_import_feedback_and_replay_fail_on_a_full_disk(stopped_emulator):
    emulator = stopped_emulator.start("--capture", stopped_emulator.path("traffic.jsonl"), "--ephemeral")
    emulator.run("export", "state.json")
    check_full(emulator, "import", "state.json")
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install", {})
    [row] = emulator.api("GET", "/api/v1/tokens")["tokens"]
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/remove", {})
    emulator.run("send", "--topic", TOPIC, "--token", row["token"], check=False)
    emulator.run("device", "--udid", "phone-1", "--topic", "com.example.other", "--timeout", "1")
    assert emulator.api("GET", "/api/v1/feedback")["feedback"]
    check_full(emulator, "feedback", "--topic", TOPIC)
    check_full(emulator, "har", "traffic.jsonl")
    check_full(emulator, "replay", "traffic.jsonl", "--speed", "max")


def test_serve_that_can_not_say_ready_ends(stopped_emulator):
    result = to_full_disk(stopped_emulator, "serve", "--ephemeral", *FREE_PORTS)
    assert result.returncode == 1 and result.stderr.endswith(f"can't write to standard output: {FULL}\n")
    assert not os.path.exists(stopped_emulator.ports_file)


def test_a_closed_pipe_is_no_reason_to_complain(installed):
    for arguments in (["tokens", "--json"], ["completion", "zsh"], ["send", "--topic", TOPIC, "--token", installed.token]):
        reader, writer = os.pipe()
        os.close(reader)
        # With and without the signal that most shells leave on.
        for restores in (True, False):
            result = subprocess.run(
                [BINARY, *arguments], cwd=installed.folder, env=installed.environment, stdin=subprocess.DEVNULL,
                stdout=writer, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, restore_signals=restores)
            assert result.stderr == "", arguments
        os.close(writer)


def test_tail_ends_when_nobody_reads(installed):
    """As soon as there is something to print."""
    process = subprocess.Popen(
        [BINARY, "tail"], cwd=installed.folder, env=installed.environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, restore_signals=False)
    process.stdout.close()
    stop = threading.Event()
    threading.Thread(target=provoke, args=(installed, stop), daemon=True).start()
    try:
        process.wait(TIMEOUT)
    finally:
        stop.set()
        process.kill()
    assert process.stderr.read() == ""
    process.stderr.close()


def test_a_closed_standard_output_is_not_taken_for_a_file(stopped_emulator):
    """The next file that is opened would get its number, and the output."""
    data = stopped_emulator.path("data")
    script = f'exec >&-; exec "$0" exec --data "{data}" -- true'
    result = subprocess.run(
        ["bash", "-c", script, BINARY], cwd=stopped_emulator.folder, env=stopped_emulator.environment,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    assert result.returncode == 0, result.stderr
    script = f'exec >&-; exec "$0" certs key --team TEAM123456'
    result = subprocess.run(
        ["bash", "-c", script, BINARY], cwd=stopped_emulator.folder, env=stopped_emulator.environment,
        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT)
    for name in os.listdir(stopped_emulator.path("certs", "keys")):
        with open(stopped_emulator.path("certs", "keys", name)) as file:
            assert "AuthKey" not in file.read()


# Files


def export(emulator, path, **options):
    return subprocess.run(
        [BINARY, "export", path], cwd=emulator.folder, env=emulator.environment, stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, **options)


def is_state(text):
    return json.loads(text)["version"] == 1


def test_export_to_a_link_replaces_its_target(installed):
    os.mkdir(installed.path("elsewhere"))
    target, link, chain = (installed.path(*parts) for parts in (("elsewhere", "state.json"), ("link",), ("chain",)))
    os.symlink("elsewhere/state.json", link)
    os.symlink(link, chain)
    # Dangling at first, and there the second time, for its owner alone.
    for before in (None, "old"):
        if before:
            with open(target, "w") as file:
                file.write(before)
            os.chmod(target, 0o600)
        old = open(target) if before else None
        assert export(installed, chain).returncode == 0
        assert os.path.islink(link) and os.path.islink(chain)
        with open(target) as file:
            assert is_state(file.read())
        if old:
            # Whoever has the old one open still has it whole.
            assert old.read() == "old"
            old.close()
            assert stat.S_IMODE(os.stat(target).st_mode) == 0o600
    assert os.listdir(installed.path("elsewhere")) == ["state.json"]


def test_export_to_a_pipe_writes_into_it(installed):
    fifo = installed.path("fifo")
    os.mkfifo(fifo)
    content = []
    reader = threading.Thread(target=lambda: content.append(open(fifo).read()), daemon=True)
    reader.start()
    result = export(installed, fifo)
    if not stat.S_ISFIFO(os.lstat(fifo).st_mode):
        os.unlink(fifo)
        os.mkfifo(fifo)
        open(fifo, "w").close()
        pytest.fail("the pipe was replaced")
    reader.join(TIMEOUT)
    assert result.returncode == 0 and is_state(content[0])


def test_export_to_devices_and_descriptors(installed):
    null = installed.path("null")
    os.symlink("/dev/null", null)
    assert export(installed, null).returncode == 0
    assert os.path.islink(null) and stat.S_ISCHR(os.stat("/dev/null").st_mode)
    full = installed.path("full")
    os.symlink("/dev/full", full)
    result = export(installed, full)
    assert result.returncode == 1 and FULL in result.stderr and os.path.islink(full)
    piped = export(installed, "/dev/stdout", stdout=subprocess.PIPE)
    assert piped.returncode == 0 and is_state(piped.stdout)
    with open(installed.path("redirected"), "w+") as file:
        assert export(installed, "/dev/stdout", stdout=file).returncode == 0
        file.seek(0)
        assert is_state(file.read())


def test_a_file_that_can_not_be_written_leaves_nothing_behind(installed):
    os.mkdir(installed.path("folder"))
    os.symlink("loop", installed.path("loop"))
    server = socket.socket(socket.AF_UNIX)
    server.bind(installed.path("socket"))
    before = sorted(os.listdir(installed.folder))
    for name, why in [("folder", "Is a directory"), ("loop", "Too many levels of symbolic links"),
                      ("absent/state.json", "No such file or directory"), ("socket", "No such device or address")]:
        result = export(installed, name)
        assert result.returncode == 1 and name in result.stderr and why in result.stderr, result.stderr
    assert sorted(os.listdir(installed.folder)) == before
    server.close()


def test_files_of_no_use_are_told_of_once(stopped_emulator):
    """An authority that is none, and a key of nobody knows whose, put there by a person; one of them while it runs."""
    def put(name):
        with open(stopped_emulator.path(f"certs/{name}"), "w") as file:
            file.write("neither certificate nor key\n")

    def told():
        return [line for line in stopped_emulator.log().splitlines() if " warning a file is ignored" in line]

    stopped_emulator.start("--ephemeral")
    stopped_emulator.stop()
    assert not told()
    put("trust/mine.pem")
    stopped_emulator.start("--ephemeral")
    eventually(told, "the authority is told of")
    assert "trust/mine.pem holds no PEM certificate" in told()[0]
    put("keys/AuthKey_ABC1234567.p8")
    eventually(lambda: len(told()) == 2, "the key is told of")
    assert "AuthKey_ABC1234567.p8 is not used" in told()[1] and "ABC1234567.json" in told()[1]
