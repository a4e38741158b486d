"""pypush 2.0.2 from PyPI as a device, unmodified; told the port through the constant that it has for it."""

import urllib.parse

import anyio
import httpx
import pypush.apns
import pypush.apns.transport
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from harness import TIMEOUT, TOPIC
from legacy import Provider, enhanced


def alert(text):
    return b'{"aps":{"alert":"%s"}}' % text.encode()


class Session:
    def __init__(self, emulator, udid="phone-1"):
        self.emulator = emulator
        self.provider_identity = emulator.push_certificate()
        certificate, key = emulator.device_certificate(udid)
        with open(certificate, "rb") as file:
            self.certificate = x509.load_pem_x509_certificate(file.read())
        with open(key, "rb") as file:
            self.key = load_pem_private_key(file.read(), None)

    def connect(self, token=None):
        host, port = self.emulator.address("courier")
        pypush.apns.transport.COURIER_PORT = port
        return pypush.apns.create_apns_connection(self.certificate, self.key, token=token, sandbox=True, courier=host)

    async def push(self, token, *texts):
        """From a thread: the provider of these tests blocks."""
        def send():
            with Provider(self.emulator, *self.provider_identity) as provider:
                provider.send(b"".join(enhanced(n, token, alert(text)) for n, text in enumerate(texts, 1)))
                assert provider.flush()[:2] == b"\x08\x02"
        await anyio.to_thread.run_sync(send)


def run(scenario, *arguments):
    async def bounded():
        with anyio.fail_after(TIMEOUT):
            await scenario(*arguments)
    anyio.run(bounded)


async def receives_nothing(stream, seconds=0.5):
    """Also the way to leave a stream: the library's reader dies when a frame arrives as one is closed."""
    with anyio.move_on_after(seconds):
        notification = await stream.receive()
        raise AssertionError(f"got {notification.payload}")


@pytest.fixture
def session(emulator):
    return Session(emulator)


def test_mints_a_token_receives_and_acknowledges(session):
    async def scenario():
        async with session.connect() as connection:
            assert len(await connection.base_token) == 32
            token = await connection.mint_scoped_token(TOPIC)
            assert len(token) == 32
            async with connection.notification_stream(TOPIC, token) as stream:
                await session.push(token, "one", "two", "three")
                for text in ("one", "two", "three"):
                    notification = await stream.receive()
                    assert notification.payload == alert(text)
                    assert (notification.topic, notification.token) == (TOPIC, token)
                    await connection.ack(notification)
                await receives_nothing(stream)
    run(scenario)


def test_keeps_its_tokens_over_a_reconnect(session):
    async def scenario():
        async with session.connect() as connection:
            base = await connection.base_token
            token = await connection.mint_scoped_token(TOPIC)
        async with session.connect(token=base) as connection:
            assert await connection.base_token == base
            assert await connection.mint_scoped_token(TOPIC) == token
    run(scenario)


def test_gets_what_was_sent_while_it_was_offline_once(session):
    async def scenario():
        async with session.connect() as connection:
            base = await connection.base_token
            token = await connection.mint_scoped_token(TOPIC)
        await session.push(token, "one", "two", "three")
        async with session.connect(token=base) as connection:
            await connection.base_token
            async with connection.notification_stream(TOPIC, token) as stream:
                notification = await stream.receive()
                assert notification.payload == alert("three")
                await connection.ack(notification)
                await receives_nothing(stream)
        async with session.connect(token=base) as connection:
            await connection.base_token
            async with connection.notification_stream(TOPIC, token) as stream:
                await receives_nothing(stream)
    run(scenario)


def test_gets_again_what_it_did_not_acknowledge(session):
    async def scenario():
        async with session.connect() as connection:
            base = await connection.base_token
            token = await connection.mint_scoped_token(TOPIC)
            async with connection.notification_stream(TOPIC, token) as stream:
                await session.push(token, "unacknowledged")
                assert (await stream.receive()).payload == alert("unacknowledged")
                await receives_nothing(stream, 0.2)
        async with session.connect(token=base) as connection:
            await connection.base_token
            async with connection.notification_stream(TOPIC, token) as stream:
                assert (await stream.receive()).payload == alert("unacknowledged")
                await receives_nothing(stream, 0.2)
    run(scenario)


def test_an_acknowledgement_with_an_error_status_keeps_the_message(session):
    async def scenario():
        async with session.connect() as connection:
            base = await connection.base_token
            token = await connection.mint_scoped_token(TOPIC)
            async with connection.notification_stream(TOPIC, token) as stream:
                await session.push(token, "refused")
                await connection.ack(await stream.receive(), status=2)
                await receives_nothing(stream, 0.2)
        async with session.connect(token=base) as connection:
            await connection.base_token
            async with connection.notification_stream(TOPIC, token) as stream:
                assert (await stream.receive()).payload == alert("refused")
                await receives_nothing(stream, 0.2)
    run(scenario)


def test_goes_on_after_the_emulator_was_restarted(session):
    async def scenario():
        async with session.connect() as connection:
            base = await connection.base_token
            token = await connection.mint_scoped_token(TOPIC)
        session.emulator.stop()
        session.emulator.start()
        await session.push(token, "after the restart")
        async with session.connect(token=base) as connection:
            assert await connection.base_token == base
            async with connection.notification_stream(TOPIC, token) as stream:
                assert (await stream.receive()).payload == alert("after the restart")
                await receives_nothing(stream, 0.2)
    run(scenario)


def test_many_sessions_one_after_the_other_all_work(session):
    """The library dies of frames that come right behind an answer; twenty sessions show that none do."""
    async def scenario():
        base = None
        for number in range(20):
            async with session.connect(token=base) as connection:
                base = await connection.base_token
                token = await connection.mint_scoped_token(TOPIC)
                async with connection.notification_stream(TOPIC, token) as stream:
                    await session.push(token, f"session {number}")
                    notification = await stream.receive()
                    assert notification.payload == alert(f"session {number}")
                    await connection.ack(notification)
    run(scenario)


class ToConsole(httpx.AsyncHTTPTransport):
    """Takes the request to Apple's activation server to the emulator's console instead."""

    def __init__(self, address):
        super().__init__()
        self.address = address

    async def handle_async_request(self, request):
        host, port = self.address
        request.url = request.url.copy_with(scheme="http", host=host, port=port)
        request.headers["Host"] = f"{host}:{port}"
        return await super().handle_async_request(request)


def test_activates_and_connects_with_what_it_got(emulator):
    async def scenario():
        udid = "ACTIVATED-BY-PYPUSH"
        async with httpx.AsyncClient(transport=ToConsole(emulator.address("console"))) as client:
            certificate, key = await pypush.apns.activate(client, udid=udid)
        session = Session(emulator)
        session.certificate, session.key = certificate, key
        async with session.connect() as connection:
            token = await connection.mint_scoped_token(TOPIC)
            async with connection.notification_stream(TOPIC, token) as stream:
                await session.push(token, "activated")
                assert (await stream.receive()).payload == alert("activated")
                await receives_nothing(stream, 0.2)
        rows = emulator.api("GET", f"/api/v1/tokens?udid={urllib.parse.quote(udid)}")["tokens"]
        assert [(row["topic"], row["token"]) for row in rows] == [(TOPIC, token.hex())]
    run(scenario)
