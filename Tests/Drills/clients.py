"""The clients that are drilled: each with a program that sends a batch as its documentation shows it."""

import dataclasses
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILT = os.path.join(ROOT, ".build", "drills")
HTTP2, BINARY = "http2", "binary"


@dataclasses.dataclass
class Client:
    """A row of the page. `command` may name the program by `PROGRAM`; `build` makes what that is, in the folder BUILT."""

    name: str
    protocol: str
    program: str
    command: list
    # What it is and where it came from; `version` prints which.
    about: str
    version: list
    # A folder of `libraries.py` beside the environment's own.
    folder: str | None = None
    build: list | None = None
    environment: dict = dataclasses.field(default_factory=dict)
    # What Python has to be able to import.
    module: str | None = None
    # Ours: it shows that the drills can be passed.
    is_ours: bool = False

    @property
    def key(self):
        return re.sub(r"\W+", "-", self.name.lower()).strip("-")


def python(name, protocol, program, module, package, about, folder=None):
    version = f"import importlib.metadata; print(importlib.metadata.version({package!r}))"
    return Client(
        name, protocol, f"programs/{program}", [sys.executable, "-W", "ignore", "PROGRAM"], about, [sys.executable, "-c", version],
        folder=folder, module=module)


def example(name, folder, command, build=None):
    """A project of Examples, through a script that makes of its outcomes the report."""
    return Client(
        f"Examples/{name}", HTTP2, f"../../Examples/{folder}", ["sh", os.path.join(HERE, "programs", "example.sh"), *command],
        "our own sender", ["echo", ""], build=build, is_ours=True,
        environment={"GOCACHE": built("go-cache")})


def built(name):
    return os.path.join(BUILT, name)


DEBIAN = ["dpkg-query", "-W", "-f", "${Version}"]
# Packages of Debian, without a network.
GO = {"GOCACHE": built("go-cache"), "GO111MODULE": "off", "GOPATH": "/usr/share/gocode"}
CLIENTS = [
    python("aioapns", HTTP2, "aioapns_gather.py", "aioapns", "aioapns", "Python, PyPI; all pushes side by side"),
    python("kalyke", HTTP2, "kalyke_loop.py", "kalyke", "kalyke-apns", "Python, PyPI; a connection for each push"),
    python("apns2", HTTP2, "apns2_batch.py", "hyper", "apns2", "Python, PyPI (PyAPNs2); its batch", "apns2"),
    python(
        "django-push-notifications", HTTP2, "django_bulk.py", "push_notifications", "django-push-notifications",
        "Python, PyPI, on aioapns; its bulk message, with a second for each push", "django"),
    python(
        "pyapns_client", HTTP2, "pyapns_client_loop.py", "pyapns_client", "pyapns-client",
        "Python, PyPI, on httpx; one push after the other", "pyapns-client"),
    Client("PHP curl", HTTP2, "programs/curl_loop.php", ["php", "PROGRAM"], "PHP's curl; one push after the other, with a timeout of 30 s",
           ["php", "-r", "echo PHP_VERSION, ' with curl ', curl_version()['version'];"]),
    Client("Node http2", HTTP2, "programs/node_http2.mjs", ["node", "PROGRAM"], "Node's own module; all pushes side by side",
           ["node", "--version"]),
    Client("Ruby http-2", HTTP2, "programs/http_2.rb", ["ruby", "PROGRAM"],
           "the gem `http-2`, Debian; all pushes side by side", [*DEBIAN, "ruby-http-2"]),
    Client("Ruby async-http", HTTP2, "programs/async_http.rb", ["ruby", "PROGRAM"],
           "the gem `async-http`, Debian; a task for each push, which opens a connection each", [*DEBIAN, "ruby-async-http"]),
    Client("Perl Protocol::HTTP2", HTTP2, "programs/http2.pl", ["perl", "PROGRAM"],
           "Debian; one push after the other", [*DEBIAN, "libprotocol-http2-perl"]),
    Client("Go x/net/http2", HTTP2, "programs/xnet.go", [built("xnet")],
           "Debian; a goroutine for each push, with a timeout of 30 s", [*DEBIAN, "golang-golang-x-net-dev"],
           build=["go", "build", "-o", built("xnet"), "PROGRAM"], environment=GO),
    Client("Java java.net.http", HTTP2, "programs/Batch.java", ["java", "-cp", built("batch"), "Batch"],
           "the JDK's own client; all pushes side by side, which opens a connection each", ["java", "--version"],
           build=["javac", "-d", built("batch"), "PROGRAM"]),
    example("Go", "Go", [built("go-sender")],
            build=["sh", "-c", f"cd \"$1\" && go build -o {built('go-sender')}", "sh", "PROGRAM"]),
    example("Java", "Java", ["java", "-cp", built("java-sender"), "Main"],
            build=["sh", "-c", f"javac -d {built('java-sender')} \"$1\"/[!S]*.java \"$1\"/Sender.java", "sh", "PROGRAM"]),
    example("Ruby", "Ruby", ["ruby", os.path.join(ROOT, "Examples", "Ruby", "sender.rb")]),
    python("apns3, a frame", BINARY, "apns3_frame.py", "apns3", "apns3", "Python, PyPI (PyAPNs for Python 3); several in one write"),
    python(
        "apns3, a loop", BINARY, "apns3_loop.py", "apns3", "apns3",
        "Python, PyPI; enhanced, with its listener for errors, whose sending again ends with a `TypeError`"),
    python("pushjack", BINARY, "pushjack_bulk.py", "pushjack", "pushjack", "Python, PyPI; its list of tokens", "pushjack"),
    python(
        "apns-clerk", BINARY, "clerk_retry.py", "apns_clerk", "apns-clerk",
        "Python, PyPI; a list of tokens, and again what is to be retried"),
    python("PyAPNs", BINARY, "apns_frame.py", "apns", "apns", "Python, PyPI; several in one write", "apns"),
    Client("PHP streams", BINARY, "programs/streams.php", ["php", "PROGRAM"],
           "PHP's streams, as tutorials had it: all is written, nothing read", ["php", "-r", "echo PHP_VERSION;"]),
    Client("PHP streams, reading", BINARY, "programs/streams_reading.php", ["php", "PROGRAM"],
           "PHP's streams, with a look for an error packet after each write", ["php", "-r", "echo PHP_VERSION;"]),
]


def path_of(client):
    return os.path.normpath(os.path.join(HERE, client.program))


def argument_list(client, words):
    return [path_of(client) if word == "PROGRAM" else word for word in words]


def environment_of(client, folder):
    """What its commands run in: a library in a folder of its own comes before those of the tests."""
    path = {"PYTHONPATH": folder} if folder else {}
    return os.environ | client.environment | path


def version_of(client, environment):
    done = subprocess.run(client.version, env=environment, capture_output=True, text=True)
    return done.stdout.strip().splitlines()[0] if done.returncode == 0 and done.stdout.strip() else ""


def built_once(client, environment):
    """Makes what is run; answers what went wrong."""
    if client.build is None:
        return None
    os.makedirs(BUILT, exist_ok=True)
    done = subprocess.run(argument_list(client, client.build), env=environment, capture_output=True, text=True)
    return None if done.returncode == 0 else last_line(done.stderr)


def load_error(client, environment):
    """Why this Python can't load a library; None if it can."""
    if client.module is None:
        return None
    program = os.path.join(HERE, "programs")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OLD_NAMES + f"import {client.module}"], cwd=program,
        env=environment, capture_output=True, text=True)
    return None if done.returncode == 0 else last_line(done.stderr)


# What apns2_batch.py and old_ssl.py do for old libraries.
OLD_NAMES = (
    "import collections, collections.abc, old_ssl\n"
    "for name in ('Iterable', 'Mapping', 'MutableMapping', 'MutableSet'):\n"
    "    setattr(collections, name, getattr(collections.abc, name))\n")


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].replace(ROOT + os.sep, "") if lines else "no word"


def python_version():
    return sys.version.split()[0]
