"""The emulator under test: the real binary, in a folder of its own, on free ports."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
import urllib.request

BINARY = os.environ["APNS_EMULATOR_BINARY"]
TOPIC = "com.example.app"
# Seconds after which something that should have happened counts as failed. Generous: machines may be busy.
TIMEOUT = 60
FREE_PORTS = [f"--{listener}-port=0" for listener in (
    "gateway", "feedback", "provider", "courier", "console", "proxy")]


def eventually(condition, what, timeout=TIMEOUT):
    """Waits until the condition holds; answers its value. `what` is a text, or a function that makes it in the end."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain until {what() if callable(what) else what}"
        time.sleep(0.01)
    return value


class Emulator:
    def __init__(self, folder):
        self.folder = str(folder)
        self.ports_file = os.path.join(self.folder, "ports.json")
        self.process = None
        self.ports = None

    @property
    def environment(self):
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("APNS_EMULATOR")}
        return inherited | {"HOME": self.folder, "APNS_EMULATOR_PORTS_FILE": self.ports_file}

    def start(self, *flags, output=None, environment=None, **options):
        """Starts `serve` and waits until every listener accepts. `output` is a descriptor for what it prints."""
        arguments = [BINARY, "serve", "--ports-file", self.ports_file, *FREE_PORTS]
        if os.path.exists(self.ports_file):
            os.unlink(self.ports_file)
        with open(os.path.join(self.folder, "serve.log"), "ab") as log:
            self.process = subprocess.Popen(
                arguments + list(flags), cwd=self.folder, env=self.environment | (environment or {}),
                **{"stdin": subprocess.DEVNULL, "stdout": output or log, "stderr": output or log} | options)
        deadline = time.monotonic() + TIMEOUT
        while not os.path.exists(self.ports_file):
            assert self.process.poll() is None, f"serve ended at once:\n{self.log()}"
            assert time.monotonic() < deadline, f"serve did not get ready:\n{self.log()}"
            time.sleep(0.005)
        with open(self.ports_file) as file:
            self.ports = json.load(file)
        return self

    def start_in_vain(self, *flags):
        """Runs a `serve` that can't start to its end."""
        return self.run("serve", *FREE_PORTS, *flags, check=False)

    def log(self):
        with open(os.path.join(self.folder, "serve.log"), errors="replace") as file:
            return file.read()[-4000:]

    def told(self, text):
        """Waits until the log holds the text, which is printed behind the listeners' backs; answers the log."""
        eventually(lambda: text in self.log(), f"the log says {text!r}")
        return self.log()

    def stop(self):
        """An orderly end."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(TIMEOUT)
        return self.process.returncode if self.process else None

    def terminate(self):
        """Asks for an orderly end, and does not wait for it."""
        self.process.send_signal(signal.SIGTERM)

    def kill(self):
        """kill -9."""
        self.process.kill()
        self.process.wait(TIMEOUT)

    def address(self, listener):
        return self.ports[listener]["host"], self.ports[listener]["port"]

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    @property
    def ca(self):
        return self.path("certs", "ca.pem")

    # Commands

    def run(self, *arguments, check=True):
        """Runs a command of the emulator to its end; answers what it printed."""
        result = subprocess.run(
            [BINARY, *arguments], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=TIMEOUT)
        if check:
            assert result.returncode == 0, f"{arguments} ended with {result.returncode}:\n{result.stdout}{result.stderr}"
        return result

    def push_certificate(self, topic=TOPIC, *flags):
        """Issues a push certificate, unless there is one and nothing special is asked; answers certificate and key."""
        return self._issued("push", topic, "--topic", *flags)

    def device_certificate(self, udid):
        """Issues a device certificate, unless there is one; answers certificate and key."""
        return self._issued("device", udid, "--udid")

    def _issued(self, kind, name, flag, *flags):
        pair = [self.path("certs", {"push": "push", "device": "devices"}[kind], name + end) for end in (".pem", ".key")]
        if flags or not os.path.exists(pair[1]):
            self.run("certs", kind, flag, name, *flags)
        return tuple(pair)

    # Console

    def api(self, method, path, body=None):
        host, port = self.address("console")
        request = urllib.request.Request(
            f"http://{host}:{port}{path}", method=method, data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"} if body is not None or method != "GET" else {})
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            return json.loads(response.read() or b"null")

    def metric(self, name):
        """The value of a metric without labels."""
        host, port = self.address("console")
        with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=TIMEOUT) as response:
            [line] = [line for line in response.read().decode().splitlines() if line.startswith(name + " ")]
        return float(line.split()[1])


class SimulatedDevice:
    """`apns-emulator device --json`, read line by line."""

    def __init__(self, emulator, udid, *flags, topic=TOPIC):
        self.process = subprocess.Popen(
            [BINARY, "device", "--udid", udid, "--topic", topic, "--json", *flags], cwd=emulator.folder,
            env=emulator.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def first(self, *events, timeout=TIMEOUT):
        """The next line that tells of one of the events; lines of others are passed over."""
        deadline, names = time.monotonic() + timeout, " or ".join(events)
        while True:
            try:
                line = self.lines.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {names} came") from None
            assert line is not None, f"the device ended before {names}: {self.process.stderr.read()}"
            if line["event"] in events:
                return line

    def next(self, event, timeout=TIMEOUT):
        return self.first(event, timeout=timeout)

    def each(self, *events):
        """The next line of each of these events by its name, in whatever order they come."""
        found = {}
        while len(found) < len(events):
            line = self.first(*events)
            assert line["event"] not in found, f"{line} came twice"
            found[line["event"]] = line
        return found

    def notification(self):
        return self.next("notification")

    def quiet(self, seconds):
        """Whether no notification comes for so long."""
        try:
            self.next("notification", seconds)
        except AssertionError:
            return True
        return False

    def wait(self):
        return self.process.wait(TIMEOUT)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(TIMEOUT)
        self.reader.join(TIMEOUT)
        self.process.stdout.close()
        self.process.stderr.close()
