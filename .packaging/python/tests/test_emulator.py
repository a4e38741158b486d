"""An emulator's beginning and end, and several at once."""

import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys

import pytest

from apns_emulator import Emulator, EmulatorError

# Starts one with a phone, tells where it is, and is killed before it can tidy up.
VICTIM = """
import signal, os, sys
from apns_emulator import Emulator
emulator = Emulator().start()
emulator.device("phone-1", "com.example.app").connect()
print(emulator.certs.parent, flush=True)
sys.stdin.read(1)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_all_listeners_are_open_and_closed_at_the_end():
    with Emulator() as emulator:
        addresses = [emulator.gateway, emulator.feedback, emulator.provider, emulator.courier, emulator.console, emulator.proxy]
        for address in addresses:
            socket.create_connection(address).close()
        assert emulator.ca.read_text().startswith("-----BEGIN CERTIFICATE-----")
        folder = emulator.certs.parent
    for address in addresses:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
    assert not folder.exists()
    with pytest.raises(EmulatorError, match="not running"):
        emulator.notifications()


def test_several_have_one_authority_and_nothing_else_in_common():
    with Emulator() as one, Emulator() as other:
        assert one.ca.read_bytes() == other.ca.read_bytes() and one.ca != other.ca
        one.device("phone-1", "com.example.app")
        assert one.console_api.get("/api/v1/tokens")["tokens"] and not other.console_api.get("/api/v1/tokens")["tokens"]


def test_threads_that_start_them_at_once_get_one_authority():
    script = """
from concurrent.futures import ThreadPoolExecutor
from apns_emulator import Emulator
emulators = [Emulator() for _ in range(3)]
with ThreadPoolExecutor() as threads:
    print(len({emulator.ca.read_text() for emulator in threads.map(Emulator.start, emulators)}))
for emulator in emulators:
    emulator.stop()
"""
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert told.stdout == "1\n", told.stderr


def test_settings_are_flags_of_serve():
    with Emulator("--environment", "production", token_seed="seed", lenient=True, without_broadcast=["a.b", "c.d"]) as one:
        assert one.environment == "production"
        with Emulator(environment="production", token_seed="seed") as other:
            tokens = [emulator.device("phone-1", "com.example.app").token for emulator in (one, other)]
    assert tokens[0] == tokens[1]


def test_a_flag_that_is_none_is_told_with_what_was_meant():
    with pytest.raises(EmulatorError, match="did not start(.|\n)*--environment"):
        Emulator(enviroment="production").start()


def test_a_program_that_is_none_is_told():
    with pytest.raises(EmulatorError, match="/nowhere can't be run: No such file"):
        Emulator(binary=pathlib.Path("/nowhere")).start()


def test_it_may_be_started_again():
    emulator = Emulator()
    for _ in range(2):
        with emulator:
            assert emulator.console_api.get("/api/v1/info")["environment"] == "sandbox"
    emulator.stop()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the end of others' children can't be awaited")
def test_none_is_left_when_this_process_is_killed():
    victim = subprocess.Popen([sys.executable, "-c", VICTIM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    folder = victim.stdout.readline().strip()
    children = pathlib.Path(f"/proc/{victim.pid}/task/{victim.pid}/children").read_text().split()
    ends = [os.pidfd_open(int(child)) for child in children]
    assert os.path.isdir(folder) and len(ends) == 2
    victim.communicate("x")
    assert victim.returncode == -signal.SIGKILL
    for end in ends:
        assert select.select([end], [], [], 30)[0]
        os.close(end)
    assert not os.path.exists(folder)


def test_one_that_has_ended_by_itself_is_told_with_its_last_words():
    with Emulator() as emulator:
        with open(emulator.log, "a") as log:
            log.write("out of luck\n")
        pid = json.loads(pathlib.Path(emulator.variables["APNS_EMULATOR_PORTS_FILE"]).read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(EmulatorError, match="does not answer(.|\n)*out of luck"):
            emulator.notifications()


def test_a_command_finds_it_by_its_variables():
    with Emulator() as emulator:
        environment = {**os.environ, **emulator.variables}
        script = "from apns_emulator.__main__ import main; import sys; sys.argv[1:] = sys.argv[1].split(); main()"
        told = subprocess.run(
            [sys.executable, "-c", script, "push phone-1 com.example.app {}"], env=environment, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
        assert emulator.wait_for_push(topic="com.example.app").accepted


def test_its_variables_name_one_bundle_for_whoever_asks_whom_to_trust():
    with Emulator() as emulator:
        names = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
        (bundle,) = {emulator.variables[name] for name in names}
        assert pathlib.Path(bundle).read_text().startswith(emulator.ca.read_text())
        assert emulator.variables["APNS_EMULATOR_CA"] == str(emulator.ca) and "SSL_CERT_DIR" not in emulator.variables


def test_variables_of_another_emulator_do_not_count(monkeypatch):
    with Emulator() as other, Emulator() as emulator:
        for name, value in other.variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("APNS_EMULATOR_CERTS", "/nowhere")
        with emulator.device("phone-1", "com.example.app").connect() as phone:
            emulator.send(phone.token, "com.example.app", {"aps": {"alert": "Hello"}})
            assert phone.next_message().payload == {"aps": {"alert": "Hello"}}
