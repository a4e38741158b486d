"""Programs that know only Apple's names, unmodified, through the proxy to a device that is on; and everybody who wants to go
somewhere else."""

import collections
import json
import os
import re
import shutil
import socket
import subprocess
import sys

import pytest

from harness import BINARY, TIMEOUT, TOPIC, Emulator, SimulatedDevice, eventually
from identity import bearer
from legacy import Provider, framed
from namespaces import own
from pages import ROOT
from programs import Run, client, tool
from wire import connect

COUNT = 20
APPLE = "api.sandbox.push.apple.com"


@pytest.fixture(scope="module")
def device(lab):
    device = SimulatedDevice(lab.emulator, "proxied-phone")
    device.told_token = device.next("token")["token"]
    yield device
    device.stop()


def curl(run):
    """Apple's URL, and `--proxy`."""
    command = [
        tool("curl"), "--silent", "--show-error", "--http2", "--proxy", "http://{}:{}".format(*run.proxy),
        "--cacert", run.lab.emulator.ca, "--output", os.devnull, "--write-out", "%{http_code}\n",
        "--header", f"authorization: {bearer(run.lab.jwt)}", "--header", f"apns-topic: {TOPIC}",
        "--header", "apns-push-type: alert"]
    outcomes = collections.Counter()
    for number, token in enumerate(run.tokens):
        payload = json.dumps({"aps": {"alert": str(number)}})
        outcomes[run.run([*command, "--data", payload, f"https://{APPLE}/3/device/{token}"]).strip()] += 1
    return outcomes


def aioapns(run):
    """Its own `proxy_host` and `proxy_port`."""
    if sys.version_info >= (3, 11):
        pytest.skip("its proxy needs asyncio's TransportSocket.send, which Python 3.11 has removed")
    return run.program([sys.executable, client("aioapns_push.py")])


def kalyke(run):
    """No setting at all: its HTTP library heeds HTTPS_PROXY."""
    run.environment["HTTPS_PROXY"] = "http://{}:{}".format(*run.proxy)
    return run.program([sys.executable, client("kalyke_push.py")])


def node(run):
    return run.program([tool("node"), client("push.mjs")], signature="ieee-p1363")


def php(run):
    """`CURLOPT_PROXY`, as Laravel's and Symfony's notifiers set it."""
    if "curl" not in run.run([tool("php"), "-m"]).split():
        pytest.skip("PHP has no curl here (Debian: php-curl)")
    return run.program([tool("php"), client("curl_push.php")], bearer=bearer(run.lab.jwt))


@pytest.mark.parametrize("push", [curl, aioapns, kalyke, node, php], ids=lambda function: function.__name__)
def test_a_program_that_knows_only_apples_name_reaches_a_device(lab, device, push):
    before = lab.counters()["delivered"]
    outcome = push(Run(lab, [device.told_token] * COUNT, lab.emulator.address("proxy")))
    assert outcome == {"200": COUNT}
    alerts = [device.notification()["payload"]["aps"]["alert"] for _ in range(COUNT)]
    assert sorted(alerts, key=int) == [str(number) for number in range(COUNT)]
    eventually(lambda: lab.counters()["delivered"] == before + COUNT, "all are acknowledged")


# A shell that trusts somebody else.
ELSEWHERE = {"CURL_CA_BUNDLE": "/nowhere/ca.pem", "SSL_CERT_DIR": "/nowhere", "REQUESTS_CA_BUNDLE": "/nowhere/ca.pem"}

# It speaks HTTP/1.1, which is answered with 505: with the bundle that it was told of, and not with another.
TRUSTING_PYTHON = """
import certifi, os, requests

def trusts(**options):
    try:
        return requests.get("https://" + os.environ["APNS_EMULATOR_PROVIDER"], timeout=20, **options).status_code == 505
    except requests.exceptions.SSLError as error:
        assert "CERTIFICATE_VERIFY_FAILED" in str(error), error
        return False

assert not trusts(verify=certifi.where())
print("trusted" if trusts() else "not trusted")
"""

TRUSTING_NODE = """
const [host, port] = process.env.APNS_EMULATOR_PROVIDER.split(":");
const socket = require("tls").connect({ host, port, servername: "localhost", ALPNProtocols: ["h2"] }, () => {
  console.log(socket.authorized ? "trusted" : socket.authorizationError);
  socket.destroy();
});
"""


# Node's http2 heeds no proxy.
HEEDLESS_NODE = """
const [url, topic, cert, key] = process.argv.slice(2), target = new URL(url), fs = require("fs");
const session = require("http2").connect(target.origin, { cert: fs.readFileSync(cert), key: fs.readFileSync(key) });
const stream = session.request({ ":method": "POST", ":path": target.pathname, "apns-topic": topic });
stream.on("response", (headers) => { console.log(headers[":status"]); session.close(); });
stream.end('{"aps":{"alert":"Hello"}}');
"""


class ProxiedProvider(Provider):
    """A provider of the binary interface that has been taught about proxies."""

    def __init__(self, emulator, certificate, key, server_name):
        super().__init__(emulator, certificate, key, "proxy", server_name)

    def secured(self, context, plain, server_name):
        assert connect(plain, f"{server_name}:2195").startswith("HTTP/1.1 200 ")
        return super().secured(context, plain, server_name)


def test_the_binary_gateway_is_behind_its_name_too(lab, device):
    certificate = lab.emulator.push_certificate()
    with ProxiedProvider(lab.emulator, *certificate, "gateway.sandbox.push.apple.com") as provider:
        provider.send(framed(1, bytes.fromhex(device.told_token), b'{"aps":{"alert":"binary"}}'))
        assert device.notification()["payload"]["aps"]["alert"] == "binary"
        [shown] = [each for each in lab.emulator.api("GET", "/api/v1/connections")["connections"]
                   if each["listener"] == "gateway"]
        assert shown["proxy"] == "gateway.sandbox.push.apple.com:2195"
        assert shown["remoteAddress"] == "{}:{}".format(*provider.socket.getsockname())


@pytest.mark.parametrize(("name", "environment"), [
    ("api.push.apple.com", "production"), ("api.sandbox.push.apple.com", "sandbox"),
    ("api.development.push.apple.com", "sandbox")])
def test_the_name_that_was_asked_for_says_the_environment(lab, name, environment):
    """Even where TLS says nothing, or something else: the program has said it to the proxy."""
    token = lab.install(f"{environment}-of-proxy", TOPIC, environment)
    for server_name in (name, "localhost"):
        with lab.connect(listener="proxy", through=f"{name}:443", name=server_name) as connection:
            fields = lab.fields(token, apns_topic=TOPIC, apns_id=None)
            answer = connection.answer(connection.request(fields))
        assert answer.status == 200, (server_name, answer.body)


class TestExec:
    """`exec --proxy`, in which every program finds us."""

    # A phone with an app, and a certificate for that.
    READY = (
        f'set -e; {BINARY} certs push --topic {TOPIC} > /dev/null\n'
        f'curl -sf -X POST http://$APNS_EMULATOR_CONSOLE/api/v1/devices/phone-1/apps/{TOPIC}/install > /dev/null\n'
        f'push=https://{APPLE}/3/device/$({BINARY} tokens --udid phone-1 --bare)\n'
        f'cert=certs/push/{TOPIC}.pem key=certs/push/{TOPIC}.key\n')
    CURL = (
        f'curl -s --http2 --cert $cert --key $key -H "apns-topic: {TOPIC}" -d \'{{"aps":{{"alert":"Hello"}}}}\''
        ' -w "%{http_code}\\n" $push\n'
        'test "$HTTPS_PROXY" = "http://$APNS_EMULATOR_PROXY" && echo "$https_proxy $NO_PROXY $no_proxy"\n')

    def proxied(self, folder, script, timeout=TIMEOUT, before=(), flags=("--proxy",), **variables):
        """What a script prints in a shell that trusts somebody else."""
        environment = Emulator(folder).environment | ELSEWHERE | variables
        del environment["APNS_EMULATOR_PORTS_FILE"]
        result = subprocess.run(
            [*before, BINARY, "exec", *flags, "--", "sh", "-c", self.READY + script], cwd=folder, env=environment,
            capture_output=True, text=True, timeout=timeout)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def test_sets_what_programs_heed(self, tmp_path):
        status, variables = self.proxied(tmp_path, self.CURL).splitlines()
        assert status == "200"
        local = "localhost,127.0.0.1,::1"
        assert variables.split() == [variables.split()[0], local, local]

    def test_leads_gos_own_client(self, tmp_path):
        if not (go := shutil.which("go")):
            pytest.skip("Go is not installed (Debian: golang-go, 460 MB)")
        # What it has compiled once; it is not to look for anything elsewhere.
        cache = subprocess.run([go, "env", "GOCACHE"], capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout.strip()
        script = f'{go} run "{client("push.go")}" $push {TOPIC} $cert $key\n'
        printed = self.proxied(tmp_path, script, 4 * TIMEOUT, GOCACHE=cache, GOPROXY="off", GOTOOLCHAIN="local", GOFLAGS="")
        assert printed == "200 HTTP/2.0\n"

    def test_the_hosts_file_leads_those_that_heed_no_proxy(self, tmp_path):
        """The line of Documentation/clients.md, and the port that Apple's name stands for."""
        if (before := own("-m", "-n")) is None:
            pytest.skip("there is no network of one's own to be had")
        [line] = re.findall(r"`(127\.0\.0\.1 api\.push.*?)`", (ROOT / "Documentation" / "clients.md").read_text())
        (tmp_path / "hosts").write_text(f"127.0.0.1 localhost\n{line}\n")
        (tmp_path / "push.js").write_text(HEEDLESS_NODE)
        ready = f'"{sys.executable}" "{ROOT}/Tests/Conformance/namespaces.py" && mount --bind hosts /etc/hosts && exec "$@"'
        printed = self.proxied(
            tmp_path, f'{tool("node")} push.js $push {TOPIC} $cert $key\n', flags=("--provider-port", "443"),
            before=[*before, "sh", "-c", ready, "sh"])
        assert printed == "200\n"

    @pytest.mark.parametrize("program", [
        [sys.executable, "-c", TRUSTING_PYTHON], ["node", "-e", TRUSTING_NODE]],
        ids=lambda words: words[0].split("/")[-1])
    def test_sets_whom_programs_trust(self, tmp_path, program):
        environment = Emulator(tmp_path).environment | ELSEWHERE
        del environment["APNS_EMULATOR_PORTS_FILE"]
        result = subprocess.run(
            [BINARY, "exec", "--", tool(program[0]), *program[1:]], cwd=tmp_path, env=environment, capture_output=True, text=True,
            timeout=TIMEOUT)
        assert (result.returncode, result.stdout.strip()) == (0, "trusted"), result.stderr

    def test_without_it_only_says_where_the_proxy_is(self, tmp_path):
        environment = {name: value for name, value in Emulator(tmp_path).environment.items()
                       if "proxy" not in name.lower() and name != "APNS_EMULATOR_PORTS_FILE"}
        result = subprocess.run(
            [BINARY, "exec", "--", "sh", "-c", 'echo "$APNS_EMULATOR_PROXY"; env | grep -ci "^https_proxy" || true'],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=TIMEOUT)
        address, count = result.stdout.split()
        assert address.startswith("127.0.0.1:") and count == "0"

    def test_needs_the_proxy(self, tmp_path):
        result = Emulator(tmp_path).run("exec", "--proxy", "--proxy-port", "off", "--", "true", check=False)
        assert result.returncode == 2 and "--proxy-port off" in result.stderr


@pytest.fixture(scope="module")
def open_emulator(tmp_path_factory):
    """Bound to all addresses."""
    emulator = Emulator(tmp_path_factory.mktemp("open")).start("--ephemeral", "--bind", "0.0.0.0")
    yield emulator
    emulator.stop()


class TestBeyondLoopback:
    """Whoever wants to use it has to bring the access token."""

    @pytest.fixture
    def access(self, open_emulator):
        [line] = [line for line in open_emulator.told("access=").splitlines() if line.startswith("access")]
        return line.split("access=")[1]

    def test_asks_for_it(self, open_emulator):
        with socket.create_connection(("127.0.0.1", open_emulator.address("proxy")[1]), TIMEOUT) as plain:
            answer = connect(plain, f"{APPLE}:443")
        assert answer.startswith("HTTP/1.1 407 ") and 'Proxy-Authenticate: Basic realm="apns-emulator"' in answer

    @pytest.mark.parametrize("user", ["access:{}", "{}:", ":{}"])
    def test_takes_it_as_curl_says_it(self, open_emulator, access, user):
        port = open_emulator.address("proxy")[1]
        result = subprocess.run(
            [tool("curl"), "--silent", "--http2", "--proxy", f"http://127.0.0.1:{port}", "--proxy-user",
             user.format(access), "--cacert", open_emulator.ca, "--write-out", "%{http_connect} %{http_code}",
             "--output", os.devnull, f"https://{APPLE}/3/device/00"], capture_output=True, text=True, timeout=TIMEOUT)
        assert result.stdout.startswith("200 4"), result.stdout


class TestOpenRelay:
    """Whoever wants to go elsewhere stays here, and harms nobody."""

    @pytest.mark.parametrize("target", [
        "example.com:443", "127.0.0.1:{provider}", "127.0.0.1:{console}", "localhost:{console}", "[::1]:{provider}",
        "[::ffff:127.0.0.1]:{provider}", "2130706433:{provider}", "0x7f.1:{provider}", "0:{provider}",
        "169.254.169.254:80", "api.push.apple.com.example.com:443", "api.push.apple.com@example.com:443",
        "example.com@api.push.apple.com:443", "api.push.apple.com:22", "api.push.apple.com:{console}",
        "API.PUSH.APPLE.COM.:443", "*.push.apple.com:443", "push.apple.com:443"])
    def test_is_refused(self, lab, unharmed, target):
        ports = {name: lab.emulator.address(name)[1] for name in ("provider", "console")}
        with socket.create_connection(lab.emulator.address("proxy"), TIMEOUT) as plain:
            answer = connect(plain, target.format(**ports))
            assert answer.startswith("HTTP/1.1 403 "), answer
            assert plain.recv(4096).startswith(b'{"error":{"code":"forbidden","message":"')

    @pytest.mark.parametrize(("head", "status"), [
        ("CONNECT example.com:443 HTTP/1.1\r\nHost: {apple}\r\n\r\n", 403),
        ("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\nX-Forwarded-Host: {apple}\r\n\r\n", 403),
        ("CONNECT {apple} HTTP/1.1\r\nHost: {apple}\r\nHost: example.com\r\n\r\n", 400),
        ("CONNECT {apple} HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\n\r\n", 400),
        ("CONNECT {apple} example.com:443 HTTP/1.1\r\nHost: {apple}\r\n\r\n", 400),
        ("CONNECT {apple}\texample.com:443 HTTP/1.1\r\nHost: {apple}\r\n\r\n", 400),
        ("CONNECT {apple}\rCONNECT example.com:443 HTTP/1.1\r\nHost: {apple}\r\n\r\n", 400),
        ("CONNECT {apple} HTTP/1.1\r\nHost: {apple}\r\n\r\nGET http://example.com/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        ("GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", 405),
        ("GET http://127.0.0.1:{console}/api/v1/info HTTP/1.1\r\nHost: 127.0.0.1:{console}\r\n\r\n", 405),
        ("GET https://{apple}/ HTTP/1.1\r\nHost: {apple}\r\n\r\n", 400),
        ("\x05\x01\x00", None), ("\x04\x01\x01\xbb\x7f\x00\x00\x01\x00", None)])
    def test_tricks_lead_nowhere(self, lab, unharmed, head, status):
        console = lab.emulator.address("console")[1]
        with socket.create_connection(lab.emulator.address("proxy"), TIMEOUT) as plain:
            plain.sendall(head.format(apple=f"{APPLE}:443", console=console).encode("latin-1"))
            if status is None:  # SOCKS: no line ever ends.
                plain.sendall(b"\r\n\r\n")
                status = 400
            assert plain.recv(4096).startswith(f"HTTP/1.1 {status} ".encode())
        connections = lab.emulator.api("GET", "/api/v1/connections")["connections"]
        assert not [each for each in connections if each.get("proxy")]
