"""What `serve` says of a NATS server that it can't be a node on: one sentence that tells what to change. And those that it can: by TLS, with
a login, as the example for Compose has it."""

import os
import re
import socket
import subprocess

import pytest

from harness import BINARY, FREE_PORTS, TIMEOUT, Emulator
from nodes import NATS, NATSServer, secret_file
from test_cluster_examples import compose

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")


@pytest.fixture
def nats(tmp_path):
    servers = []

    def start(*flags, **options):
        folder = tmp_path / f"nats-{len(servers)}"
        servers.append(NATSServer(folder, *flags, **options))
        return servers[-1].start()

    yield start
    for each in servers:
        each.kill()


def start_in_vain(folder, issued, url, *flags):
    """Starts a node that does not become one."""
    node = Emulator(folder)
    words = [BINARY, "serve", *FREE_PORTS, "--certs", str(issued), "--nats", url, *flags]
    return subprocess.Popen(words, cwd=folder, env=node.environment, stderr=subprocess.PIPE, text=True)


def last_words(process):
    _, said = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 1, said
    return said.strip().splitlines()[-1].removeprefix("apns-emulator: ")


def refusal(*arguments):
    return last_words(start_in_vain(*arguments))


@pytest.fixture
def deaf_port():
    """A port that nobody else gets, and at which nobody listens."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def test_nats_servers_that_no_node_comes_to(tmp_path, tmp_path_factory, issued, nats, deaf_port):
    """One that is not there, one that does not know us, one whose certificate is of somebody else: a node waits for each for a
    while, and so for all at the same time."""
    stranger = nats("--auth", "another").url
    certificate, key = os.path.join(issued, "server.pem"), os.path.join(issued, "server.key")
    secure = nats("--tls", "--tlscert", certificate, "--tlskey", key).url
    other = Emulator(tmp_path_factory.mktemp("other"))
    other.push_certificate()
    starts = [
        start_in_vain(tmp_path, issued, f"nats://me:s3cr3t@127.0.0.1:{deaf_port}"),
        start_in_vain(tmp_path, issued, stranger.replace("//", "//s3cr3t@")),
        start_in_vain(tmp_path, issued, secure, "--nats-ca", os.path.join(other.folder, "certs", "ca.pem")),
    ]
    absent, unknown, disbelieved = [last_words(each) for each in starts]
    assert absent == f"--nats: nats://127.0.0.1:{deaf_port}: can't connect: Connection refused"
    assert unknown == f"--nats: {stranger}: the NATS server refuses this node: Authorization Violation"
    assert disbelieved.startswith(f"--nats: {secure}: the certificate of the NATS server is not trusted: ")
    assert disbelieved.endswith("(--nats-ca names its CA)")


def test_a_nats_server_without_jetstream(tmp_path, issued, nats):
    said = refusal(tmp_path, issued, nats("-n", "plain", jet_stream=False).url)
    assert said == "--nats: the NATS server plain has no JetStream: start it with -js"


def test_a_nats_server_that_takes_only_small_messages(tmp_path, issued, nats):
    (tmp_path / "small.conf").write_text("max_payload: 65536\n")
    said = refusal(tmp_path, issued, nats("-c", str(tmp_path / "small.conf")).url)
    assert re.fullmatch(r"--nats: .* messages of \d+ bytes, got one that takes 65536: raise its max_payload", said), said


def test_a_nats_server_with_another_stream_of_the_name(tmp_path, issued, nats):
    server = nats()
    body = b'{"name":"APNS_CLUSTER","subjects":["apns.cluster"],"max_age":60000000000,"storage":"memory"}'
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT) as connection:
        words = b"CONNECT {}\r\nSUB answer 1\r\nPUB $JS.API.STREAM.CREATE.APNS_CLUSTER answer %d\r\n%s\r\n"
        connection.sendall(words % (len(body), body))
        heard = b""
        while b'"created"' not in heard:
            heard += connection.recv(4096)
    said = refusal(tmp_path, issued, server.url)
    assert said.startswith("--nats: the stream APNS_CLUSTER was not made by apns-emulator, or was changed: "), said
    assert "max_age: expected 0, got 60000000000" in said


def test_a_node_as_in_compose_with_tls(tmp_path, issued, nats):
    """The settings of the example, but for what must be another on this machine; the connection is secured besides."""
    certificate, key = os.path.join(issued, "server.pem"), os.path.join(issued, "server.key")
    accounts = re.search(r"accounts \{.*", compose()["configs"]["nats"]["content"], re.DOTALL)[0]
    (tmp_path / "nats.conf").write_text(accounts)
    server = nats("--tls", "--tlscert", certificate, "--tlskey", key, "-c", str(tmp_path / "nats.conf"))
    environment = dict(compose()["services"]["node-1"]["environment"])
    url = environment["APNS_EMULATOR_NATS"]
    environment["APNS_EMULATOR_NATS"] = url.replace("nats:4222", f"127.0.0.1:{server.port}").replace("nats:", "tls:")
    environment["APNS_EMULATOR_CLUSTER_SECRET"] = secret_file(tmp_path)
    node = Emulator(tmp_path)
    try:
        node.start(
            "--certs", str(issued), "--nats-ca", os.path.join(issued, "ca.pem"), "--zones", "4", "--bind", "127.0.0.1",
            environment=environment)
        assert node.run("health").returncode == 0
    finally:
        node.kill()
    # It has the zones that it was made with.
    said = refusal(
        tmp_path, issued, environment["APNS_EMULATOR_NATS"], "--nats-ca", os.path.join(issued, "ca.pem"), "--zones", "8",
        "--cluster-secret", environment["APNS_EMULATOR_CLUSTER_SECRET"])
    assert said == "--nats: expected a cluster of 8 zones (--zones), got one that was made with 4", said
