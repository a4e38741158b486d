"""The ports file belongs to one emulator for as long as that lives."""

import json
import os
import subprocess

import pytest

from harness import BINARY, FREE_PORTS, Emulator


@pytest.fixture
def other(stopped_emulator):
    """A second emulator in the same folder, with a ports file of the same name."""
    emulator = Emulator(stopped_emulator.folder)
    yield emulator
    emulator.stop()


def read(path):
    with open(path) as file:
        return json.load(file)


def refusal(emulator, *flags):
    result = emulator.start_in_vain("--ephemeral", *flags)
    assert result.returncode == 1 and "ready" not in result.stdout, result.stdout + result.stderr
    return result.stderr


def test_a_second_emulator_does_not_take_the_ports_file_of_the_first(emulator):
    """Neither by the environment nor by the flag; and it does not delete it either."""
    before = read(emulator.ports_file)
    for flags in [(), ("--ports-file", emulator.ports_file)]:
        complaint = refusal(emulator, *flags)
        assert f"pid {emulator.process.pid}" in complaint and emulator.ports_file in complaint
        assert "--ports-file" in complaint
    assert read(emulator.ports_file) == before
    assert emulator.run("health").stdout == "ready\n"
    assert not [name for name in os.listdir(emulator.folder) if name.endswith(".tmp")]


def test_the_file_of_a_dead_emulator_is_replaced(stopped_emulator, other):
    stopped_emulator.start("--ephemeral")
    dead = stopped_emulator.process.pid
    stopped_emulator.kill()
    assert read(other.ports_file)["pid"] == dead
    process = subprocess.Popen(
        [BINARY, "serve", "--ephemeral", *FREE_PORTS], cwd=other.folder, env=other.environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    other.process = process
    assert "ready\n" in iter(process.stdout.readline, "")
    assert read(other.ports_file)["pid"] == process.pid
    assert other.stop() == 0
    process.stdout.close()
    assert not os.path.exists(other.ports_file)


def test_a_file_with_the_number_of_a_stranger_is_replaced(stopped_emulator):
    """A number is given out again, above all after a container was started anew."""
    stranger = {"pid": os.getpid(), "console": {"host": "127.0.0.1", "port": 1}}
    with open(stopped_emulator.ports_file, "w") as file:
        json.dump(stranger, file)
    process = subprocess.Popen(
        [BINARY, "serve", "--ephemeral", *FREE_PORTS], cwd=stopped_emulator.folder, env=stopped_emulator.environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    stopped_emulator.process = process
    assert "ready\n" in iter(process.stdout.readline, "")
    assert read(stopped_emulator.ports_file)["pid"] == process.pid
    process.stdout.close()


def test_a_file_that_is_not_its_own_any_more_is_left_alone(emulator):
    os.unlink(emulator.ports_file)
    with open(emulator.ports_file, "w") as file:
        file.write("somebody else's")
    assert emulator.stop() == 0
    with open(emulator.ports_file) as file:
        assert file.read() == "somebody else's"


def test_exec_within_reach_of_a_running_emulator_has_a_file_of_its_own(emulator):
    before = read(emulator.ports_file)
    result = emulator.run("exec", "--", "sh", "-c", 'cat "$APNS_EMULATOR_PORTS_FILE"')
    assert json.loads(result.stdout)["pid"] != before["pid"]
    assert read(emulator.ports_file) == before


def test_a_ports_file_may_be_a_link_and_its_target_is_replaced(stopped_emulator):
    emulator = stopped_emulator
    os.mkdir(emulator.path("elsewhere"))
    target = emulator.path("elsewhere", "ports.json")
    link = emulator.path("link.json")
    os.symlink("elsewhere/ports.json", link)
    process = subprocess.Popen(
        [BINARY, "serve", "--ephemeral", *FREE_PORTS, "--ports-file", link], cwd=emulator.folder,
        env=emulator.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    emulator.process = process
    assert "ready\n" in iter(process.stdout.readline, "")
    assert os.path.islink(link) and read(target)["pid"] == process.pid
    assert f"pid {process.pid}" in refusal(emulator, "--ports-file", target)
    assert emulator.stop() == 0
    process.stdout.close()
    assert os.path.islink(link) and not os.path.exists(target)


def test_a_ports_file_may_be_a_pipe(stopped_emulator):
    emulator = stopped_emulator
    fifo = emulator.path("fifo")
    os.mkfifo(fifo)
    process = subprocess.Popen(
        [BINARY, "serve", "--ephemeral", *FREE_PORTS, "--ports-file", fifo], cwd=emulator.folder,
        env=emulator.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    emulator.process = process
    with open(fifo) as file:
        assert json.load(file)["pid"] == process.pid
    assert emulator.stop() == 0
    assert os.path.exists(fifo), "it was there before"
