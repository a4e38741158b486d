"""What `serve --on-delivery` tells, and the scripts of Documentation/hooks.md that hear it."""

import contextlib
import http.server
import json
import os
import queue
import re
import shutil
import ssl
import threading

import pytest

from harness import TIMEOUT, TOPIC, SimulatedDevice, eventually

ARTICLE = os.path.join(os.path.dirname(__file__), "..", "..", "Documentation", "hooks.md")
needs_jq = pytest.mark.skipif(not shutil.which("jq"), reason="the scripts of the article use jq")


class Server(http.server.ThreadingHTTPServer):
    """Remembers what it is asked, and answers what it was told to."""

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.answers = queue.Queue(), answers

    def next(self):
        """Method, path, header fields and body of the next request."""
        return self.asked.get(timeout=TIMEOUT)


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = self.server.answers.get(self.path, b"")
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.server.asked.put((self.command, self.path, self.headers, body))

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(answers={}, tls=None):
    server = Server(answers)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server, f"{'https' if tls else 'http'}://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def script(folder, name):
    """The path of a script, as the article has it."""
    with open(ARTICLE) as file:
        text = re.search(rf"```sh.*\n(# {re.escape(name)}\n.*?)```", file.read(), re.DOTALL)[1]
    path = folder / name
    path.write_text(text)
    return f"sh '{path}'"


@contextlib.contextmanager
def simulated(emulator, topic):
    phone = SimulatedDevice(emulator, "phone-1", topic=topic)
    try:
        yield phone
    finally:
        phone.stop()


def deliver(emulator, topic=TOPIC, *flags, payload='{"aps":{"alert":"Hi"}}'):
    """A push that a phone gets; answers the phone's token."""
    with simulated(emulator, topic) as phone:
        token = phone.next("token")["token"]
        certificate, key = emulator.push_certificate(topic)
        emulator.run(
            "send", "--topic", topic, "--token", token, "--cert", certificate, "--cert-key", key, "--payload", payload,
            *flags)
        phone.notification()
    return token


def test_a_url_is_told_over_verified_https(stopped_emulator, tmp_path):
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certs = tmp_path / "certs"
    tls.load_cert_chain(certs / "server.pem", certs / "server.key")
    with serving(tls=tls) as (server, url):
        emulator = stopped_emulator.start(
            "--on-delivery", f"{url}/pushed?x", environment={"SSL_CERT_FILE": str(certs / "ca.pem")})
        token = deliver(emulator)
        method, path, fields, body = server.next()
        assert (method, path, fields["Content-Type"]) == ("POST", "/pushed?x", "application/json")
        told = json.loads(body)
        assert (told["udid"], told["token"]) == ("phone-1", token)
        assert told["notification"]["payload"] == {"aps": {"alert": "Hi"}}
        emulator.stop()
        # Without the CA nobody is told, and the log says why but not where.
        emulator.start("--on-delivery", f"{url}/pushed?x")
        deliver(emulator)
        log = emulator.told("hook failed, will be retried")
        assert "certificate was not accepted" in log and "pushed" not in log
        assert server.asked.empty()


@needs_jq
def test_the_mdm_script_checks_in(stopped_emulator, tmp_path):
    topic = "com.apple.mgmt.External.5f2b3c1a"
    with serving() as (server, url):
        emulator = stopped_emulator.start(
            "--on-delivery", script(tmp_path, "mdm-check-in.sh"), environment={"MDM_URL": f"{url}/mdm"})
        deliver(emulator, topic, "--push-type", "mdm", payload='{"mdm":"magic"}')
        method, path, fields, body = server.next()
        assert (method, path, fields["Content-Type"]) == ("PUT", "/mdm", "application/x-apple-aspen-mdm")
        assert b"<key>UDID</key><string>phone-1</string>" in body and b"<string>Idle</string>" in body


@needs_jq
def test_the_wallet_script_fetches_what_has_changed(stopped_emulator, tmp_path):
    topic = "pass.com.example.coupon"
    answers = {f"/v1/devices/phone-1/registrations/{topic}": b'{"serialNumbers":["A1"],"lastUpdated":"1"}',
               f"/v1/passes/{topic}/A1": b"the pass"}
    with serving(answers) as (server, url):
        emulator = stopped_emulator.start(
            "--on-delivery", script(tmp_path, "fetch-pass.sh"),
            environment={"PASS_URL": url, "PASS_TOKEN": "secret-of-the-pass"})
        deliver(emulator, topic, payload="{}")
        requests = [server.next() for _ in range(2)]
        assert [request[1] for request in requests] == list(answers)
        assert requests[1][2]["Authorization"] == "ApplePass secret-of-the-pass"
        eventually(lambda: (tmp_path / "A1.pkpass").exists(), "the pass is there")


@needs_jq
def test_the_simulator_script_hands_payload_and_bundle_to_simctl(stopped_emulator, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "xcrun").write_text(f"#!/bin/sh\necho \"$@\" > '{tmp_path}/words'\ncat > '{tmp_path}/payload.new'\n"
                                 f"mv '{tmp_path}/payload.new' '{tmp_path}/payload'\n")
    (tools / "xcrun").chmod(0o755)
    emulator = stopped_emulator.start(
        "--on-delivery", script(tmp_path, "to-simulator.sh"),
        environment={"PATH": f"{tools}:{os.environ['PATH']}"})
    deliver(emulator)
    eventually(lambda: (tmp_path / "payload").exists(), "the simulator has it")
    assert (tmp_path / "words").read_text() == f"simctl push booted {TOPIC} -\n"
    assert (tmp_path / "payload").read_text() == '{"aps":{"alert":"Hi"}}\n'


def test_hooks_hear_of_the_last_push_before_the_emulator_ends(stopped_emulator, tmp_path):
    emulator = stopped_emulator.start("--on-delivery", f"cat >> '{tmp_path}/seen'; sleep 0.3; echo end >> '{tmp_path}/seen'")
    deliver(emulator)
    assert emulator.stop() == 0
    assert (tmp_path / "seen").read_text().endswith("end\n")
