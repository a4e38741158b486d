"""Runs other people's clients of the HTTP/2 API, which are told what to do as JSON."""

import json
import os
import shutil
import subprocess

from harness import TIMEOUT, TOPIC
from lab import KEY, TEAM

HERE = os.path.dirname(os.path.abspath(__file__))


class Run:
    """One client's work: what it was told, and what it says came of it. `proxy`: host and port that it is to go through."""

    def __init__(self, lab, tokens, proxy=None):
        self.lab, self.tokens, self.proxy = lab, tokens, proxy
        self.environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()} | {
            "SSL_CERT_FILE": lab.emulator.ca, "NODE_EXTRA_CA_CERTS": lab.emulator.ca}

    def program(self, arguments, path=None, **task):
        """A program of `clients`; answers its counts by outcome."""
        task = {
            "key": self.lab.emulator.path("certs", "keys", f"AuthKey_{KEY}.p8"), "keyId": KEY, "team": TEAM,
            "topic": TOPIC, "tokens": self.tokens, "port": self.lab.emulator.address("provider")[1]} | task
        task |= {"proxy": self.proxy} if self.proxy else {}
        environment = self.environment | ({"PYTHONPATH": path} if path else {})
        return json.loads(self.run(arguments, environment, json.dumps(task)))

    def run(self, arguments, environment=None, text=None):
        result = subprocess.run(
            arguments, env=environment or self.environment, input=text, capture_output=True, text=True,
            timeout=4 * TIMEOUT)
        assert result.returncode == 0, f"{arguments[:3]} ended with {result.returncode}:\n{result.stderr[-2000:]}"
        return result.stdout


def client(name):
    return os.path.join(HERE, "clients", name)


def tool(name):
    path = shutil.which(name)
    assert path, f"{name} is not installed"
    return path
