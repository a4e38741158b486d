"""Drills for a server that does not end, begun by the console API. The server is `provider_drilled.py`, run when it has to send."""

import concurrent.futures
import contextlib
import http.client
import json
import signal
import subprocess
import urllib.error
import urllib.request

import pytest

from harness import BINARY, TIMEOUT, eventually
from test_drill import PROVIDER, environment, processes_of

PUSHES = 10


class Served:
    """`drill --serve`, and a client of its console."""

    def __init__(self, folder, *flags):
        self.folder = folder
        self.process = subprocess.Popen(
            [BINARY, "drill", "--serve", "--json", "--pushes", str(PUSHES), *flags], cwd=folder, env=environment(folder),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.variables = json.loads(self.process.stdout.readline())
        self.pool = concurrent.futures.ThreadPoolExecutor()

    def ask(self, method, path, body=None):
        """Answers status and document."""
        request = urllib.request.Request(
            f"http://{self.variables['APNS_EMULATOR_CONSOLE']}/api/v1{path}", None if body is None else json.dumps(body).encode(),
            {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=2 * TIMEOUT) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def refusal(self, method, path, body=None):
        status, answer = self.ask(method, path, body)
        return status, answer["error"]["message"]

    def get(self, path):
        status, answer = self.ask("GET", path)
        assert status == 200, answer
        return answer

    def begin(self, drill, **body):
        """Answers what will get the verdict, and the run once its tokens can be pushed to."""
        verdict = self.pool.submit(self.ask, "POST", f"/drills/{drill}", body)
        return verdict, eventually(lambda: verdict.done() or self.get("/drills")["running"], f"{drill} runs")

    def send(self, *flags, **variables):
        """Has the server send; answers what it prints."""
        return subprocess.run(
            [*PROVIDER, *flags], env=environment(self.folder) | self.variables | variables, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True, timeout=TIMEOUT, check=True).stdout

    def drill(self, drill, *flags, complete=False, **body):
        """A whole run."""
        verdict, running = self.begin(drill, **body)
        assert running["id"] == drill
        self.send(*flags)
        if complete:
            assert self.ask("POST", "/drills/complete", {}) == (200, {"id": drill})
        status, outcome = verdict.result(TIMEOUT)
        assert status == 200, outcome
        return outcome

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(TIMEOUT)
        self.process.stdout.close()
        self.pool.shutdown()
        return status


@contextlib.contextmanager
def serving(folder, *flags):
    served = Served(folder, *flags)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.end()


@pytest.fixture
def served(tmp_path):
    with serving(tmp_path) as served:
        yield served


def test_a_good_server_passes_the_baseline_and_a_drill_without_a_word(served):
    assert served.get("/drills")["baseline"] is False
    baseline = served.drill("baseline")
    assert (baseline["verdict"], baseline["sent"], baseline["once"]) == ("ok", PUSHES, PUSHES), baseline
    overview = served.get("/drills")
    assert overview["baseline"] is True and overview["running"] is None
    outcome = served.drill("goaway-graceful")
    assert (outcome["verdict"], outcome["passed"], outcome["once"], outcome["attempts"]) == ("ok", True, PUSHES, 1), outcome
    assert outcome["evidence"] == {"page": "Documentation/provider-api.md", "heading": "goaway"}
    assert served.get("/faults")["faults"] == []


def test_each_run_has_phones_and_tokens_of_its_own_and_nothing_grows(served):
    seen = []
    for _ in range(3):
        verdict, running = served.begin("baseline")
        assert len(running["tokens"]) == len(running["udids"]) == PUSHES
        assert len(served.get("/devices")["devices"]) == PUSHES
        with open(served.variables["APNS_EMULATOR_TOKEN_FILE"]) as file:
            assert file.read().split() == running["tokens"]
        seen += running["tokens"]
        served.send()
        assert verdict.result(TIMEOUT)[1]["verdict"] == "ok"
    assert len(set(seen)) == 3 * PUSHES
    eventually(lambda: not any(device["online"] for device in served.get("/devices")["devices"]), "the phones are off")


def test_a_server_that_loses_pushes_fails_once_it_says_that_it_is_done(served):
    naive = ["--protocol", "binary", "--fault", "drops-behind-error"]
    assert served.drill("baseline", *naive)["verdict"] == "ok"
    # Late enough for all to be written before.
    outcome = served.drill("binary-late-error", *naive, complete=True)
    assert outcome["verdict"] == "FAIL" and not outcome["passed"], outcome
    assert "pushes behind the rejected one were never sent again" in outcome["sentence"], outcome
    assert outcome["lost"] == PUSHES - PUSHES // 2 - 1 and "lost-after-error" in [each["id"] for each in outcome["advice"]], outcome
    # Nobody says so: its time passes.
    outcome = served.drill("binary-late-error", *naive, timeoutMs=2500)
    assert outcome["verdict"] == "hangs" and "not done after 2.5 s" in outcome["sentence"], outcome
    # What it did before is not held against it.
    assert served.drill("binary-late-error", "--protocol", "binary")["verdict"] == "ok"


def test_tokens_that_are_dead_are_told_of_by_file_or_by_the_api(served):
    assert served.drill("baseline")["verdict"] == "ok"
    outcome = served.drill("unregistered")
    assert (outcome["verdict"], outcome["refused"], outcome["reported"]) == ("ok", 1, 1), outcome
    verdict, running = served.begin("bad-device-token")
    assert running["udids"].count(None) == 1
    said = served.send(APNS_EMULATOR_REPORT="")
    dead = [line.split()[0] for line in said.splitlines()]
    assert dead == [token for token, udid in zip(running["tokens"], running["udids"]) if udid is None]
    status, message = served.refusal("POST", "/drills/complete", {"notSent": ["abcd"]})
    assert status == 400 and "notSent[0]: expected a token of the run" in message
    assert served.ask("POST", "/drills/complete", {"notSent": dead}) == (200, {"id": "bad-device-token"})
    outcome = verdict.result(TIMEOUT)[1]
    assert (outcome["verdict"], outcome["reported"]) == ("ok", 1), outcome


def test_a_baseline_in_which_nothing_comes_is_told_what_the_server_should_do(served):
    outcome = served.pool.submit(served.ask, "POST", "/drills/baseline", {"timeoutMs": 300}).result(TIMEOUT)[1]
    assert outcome["verdict"] == "FAIL" and "sent nothing" in outcome["sentence"], outcome
    assert "the server has to send one push to each token" in outcome["sentence"]
    status, message = served.refusal("POST", "/drills/shutdown", {})
    assert status == 409 and "POST /api/v1/drills/baseline" in message


def test_one_run_at_a_time_and_each_in_its_place(served):
    assert served.refusal("POST", "/drills/complete", {})[0] == 409
    status, message = served.refusal("POST", "/drills/goaway-gracefull", {})
    assert status == 404 and "did you mean goaway-graceful?" in message
    assert served.refusal("POST", "/drills/shutdown", {})[0] == 409
    verdict, _ = served.begin("baseline")
    status, message = served.refusal("POST", "/drills/baseline", {})
    assert status == 409 and message.startswith("baseline is running")
    served.send()
    assert verdict.result(TIMEOUT)[0] == 200
    status, message = served.refusal("POST", "/drills/binary-shutdown", {})
    assert status == 409 and message == "the server does not speak the binary protocol"
    skipped = {each["id"]: each["skipped"] for each in served.get("/drills")["drills"]}
    assert skipped["binary-shutdown"] == message and skipped["shutdown"] is None


def test_a_client_that_goes_away_ends_its_run(served):
    host, _, port = served.variables["APNS_EMULATOR_CONSOLE"].rpartition(":")
    client = http.client.HTTPConnection(host, int(port), timeout=TIMEOUT)
    client.request("POST", "/api/v1/drills/baseline", "{}", {"Content-Type": "application/json"})
    eventually(lambda: served.get("/drills")["running"], "the run has begun")
    client.close()
    eventually(lambda: not served.get("/drills")["running"], "the run has ended")
    assert served.get("/faults")["faults"] == []
    assert served.drill("baseline")["verdict"] == "ok"


def test_a_signal_amid_a_run_ends_all(tmp_path):
    with serving(tmp_path) as served:
        verdict, _ = served.begin("baseline")
        assert served.end() == 0
        assert verdict.result(TIMEOUT)[0] == 503
    assert processes_of(tmp_path) == [] and list(tmp_path.iterdir()) == []


def test_what_is_kept_and_what_a_shell_reads(tmp_path):
    with serving(tmp_path, "--keep", "kept", "--ports-file", "ports.json") as served:
        console = json.loads((tmp_path / "ports.json").read_text())["console"]
        assert f"{console['host']}:{console['port']}" == served.variables["APNS_EMULATOR_CONSOLE"]
        assert served.drill("baseline")["verdict"] == "ok"
    assert {entry.name for entry in (tmp_path / "kept").iterdir()} >= {"capture.ndjson", "emulator.log", "tokens.txt", "report.txt"}
    with subprocess.Popen(
            [BINARY, "drill", "--serve"], cwd=tmp_path, env=environment(tmp_path), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            text=True) as process:
        lines = list(iter(process.stdout.readline, "# ready\n"))
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 0
    told = subprocess.run(["sh", "-c", "".join(lines) + 'echo "$APNS_EMULATOR_TOPIC"'], capture_output=True, text=True, check=True)
    assert told.stdout == "com.example.app\n" and told.stderr == ""


@pytest.mark.parametrize(
    "arguments, words", [
        (["--serve", "--", "true"], "--serve runs no command"),
        (["--serve", "--only", "shutdown"], "--only can't be combined with --serve"),
        (["--ports-file", "ports.json", "--", "true"], "--ports-file needs --serve"),
    ])
def test_what_makes_no_sense_is_status_2(tmp_path, arguments, words):
    done = subprocess.run(
        [BINARY, "drill", *arguments], cwd=tmp_path, env=environment(tmp_path), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 2 and words in done.stderr, done.stderr


def test_another_emulator_says_how_to_get_one_that_runs_drills(emulator):
    request = urllib.request.Request("http://%s:%s/api/v1/drills" % emulator.address("console"))
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(request, timeout=TIMEOUT)
    assert raised.value.code == 503 and "apns-emulator drill --serve" in raised.value.read().decode()
