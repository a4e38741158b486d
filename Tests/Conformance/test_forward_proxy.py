"""`serve --forward` out through a proxy: our own, in front of an emulator that plays Apple, and one that wants to know who asks."""

import base64
import contextlib
import socket
import threading

import pytest

from harness import TIMEOUT, Emulator
from legacy import framed
from phone import Phone
from test_forward import behind, bridge, key, key_path, payload  # noqa: F401
from upstream import Upstream

APPLE = "api.sandbox.push.apple.com:443"


class AskingProxy:
    """Leads whoever brings the credentials to one port, whatever is asked for; `answer` is what others are told."""

    def __init__(self, port, credentials):
        self.target, self.answer = port, b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 5\r\n\r\nsorry"
        self.expected = b"Proxy-Authorization: Basic " + base64.b64encode(credentials.encode())
        self.heads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                plain, _ = self.listener.accept()
                threading.Thread(target=self.take, args=(plain,), daemon=True).start()

    def take(self, client):
        with client, contextlib.suppress(OSError):
            client.settimeout(TIMEOUT)
            head = b""
            while b"\r\n\r\n" not in head:
                head += client.recv(4096)
            self.heads.append(head)
            if self.expected not in head.split(b"\r\n"):
                return client.sendall(self.answer)
            with socket.create_connection(("127.0.0.1", self.target), TIMEOUT) as server:
                client.sendall(b"HTTP/1.0 200 OK\r\nVia: a proxy\r\n\r\n")
                threading.Thread(target=pass_on, args=(server, client), daemon=True).start()
                pass_on(client, server)


def pass_on(source, sink):
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            sink.sendall(piece)
        sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def upstream(behind):
    behind.start()
    behind.stop()
    with Upstream(behind.path("certs", "server.pem"), behind.path("certs", "server.key")) as upstream:
        yield upstream


def start(bridge, behind, key_path, proxy, *flags, environment=None):
    bridge.emulator.start(
        "--forward", APPLE, "--key", key_path, "--forward-ca", behind.ca, *(["--forward-proxy", proxy] if proxy else []),
        *flags, environment=environment)
    return bridge


def push(bridge, token, text="through"):
    with bridge.provider() as provider:
        provider.send(framed(1, token, payload(text)))
        return bridge.ended(1)[0]


def test_goes_through_our_own_proxy_to_a_device(behind, bridge, key_path):
    behind.start()
    start(bridge, behind, key_path, "http://{}:{}".format(*behind.address("proxy")))
    phone = Phone(behind)
    phone.online()
    assert push(bridge, phone.token)["state"] == "delivered"
    assert phone.next_alert() == "through"
    [shown] = [each for each in behind.api("GET", "/api/v1/connections")["connections"] if each["listener"] == "provider"]
    assert shown["proxy"] == shown["serverName"] + ":443" == APPLE


@pytest.mark.parametrize("form", ["http://me:{}@127.0.0.1:{}", "http://me:{}@127.0.0.1:{}/", "me:{}@127.0.0.1:{}"])
def test_brings_credentials(behind, bridge, key_path, upstream, form):
    with AskingProxy(upstream.port, "me:p@ss:word%") as proxy:
        start(bridge, behind, key_path, form.format("p%40ss:word%25", proxy.port))
        assert push(bridge, bytes(32))["verdict"]["accepted"]
        assert proxy.heads[0].startswith(f"CONNECT {APPLE} HTTP/1.1\r\nHost: {APPLE}\r\n".encode())
    assert upstream.requests[0][":authority"] == APPLE.removesuffix(":443")
    assert "word" not in bridge.emulator.log()


def test_by_the_environment(behind, bridge, key_path, upstream):
    with AskingProxy(upstream.port, "me:word") as proxy:
        start(bridge, behind, key_path, None, environment={
            "APNS_EMULATOR_FORWARD_PROXY": f"http://me:word@127.0.0.1:{proxy.port}"})
        assert push(bridge, bytes(32))["verdict"]["accepted"]


def test_says_what_the_proxy_said(behind, bridge, key_path, upstream):
    with AskingProxy(upstream.port, "me:word") as proxy:
        start(bridge, behind, key_path, f"http://me:wrong@127.0.0.1:{proxy.port}")
        with bridge.provider() as provider:
            provider.send(framed(1, bytes(32), payload("waits")))
            log = bridge.emulator.told(f"answered 407 Proxy Authentication Required to CONNECT {APPLE}")
            assert f"the proxy 127.0.0.1:{proxy.port}" in log and "wrong" not in log
            # It is tried again, as with any other way that is not open.
            proxy.expected = b"Host: " + APPLE.encode()
            assert bridge.ended(1)[0]["verdict"]["accepted"]


@pytest.mark.parametrize(("answer", "sentence"), [
    (b"HTTP/1.1 200 OK\r\n\r\n\x16\x03\x01", "it sent bytes before TLS began"),
    (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "it is no HTTP proxy"),
    (b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n", "it answered 302"), (b"", "proxy 127.0.0.1")])
def test_is_not_fooled_by_what_is_no_proxy(behind, bridge, key_path, upstream, answer, sentence):
    with AskingProxy(upstream.port, "nobody") as proxy:
        proxy.answer = answer
        start(bridge, behind, key_path, f"http://127.0.0.1:{proxy.port}")
        with bridge.provider() as provider:
            provider.send(framed(1, bytes(32), payload("waits")))
            bridge.emulator.told(sentence)
            proxy.expected = b"Host: " + APPLE.encode()
            assert bridge.ended(1)[0]["verdict"]["accepted"]


@pytest.mark.parametrize("proxy", ["", "proxy", "https://proxy:3128", "http://proxy:0", "http://proxy:3128/path", "socks5://p:1"])
def test_wants_a_host_and_a_port(tmp_path, proxy):
    result = Emulator(tmp_path).start_in_vain("--forward", APPLE, "--key", "k", "--forward-proxy", proxy)
    assert result.returncode == 2 and "--forward-proxy" in result.stderr
