"""Provider libraries from PyPI, unmodified. Only host and port are set, by the attribute or argument that they have."""

import datetime
import ssl
import time

import pytest

from harness import TOPIC, eventually
from phone import Phone

if not hasattr(ssl, "wrap_socket"):
    # Python 3.12 took it away; these libraries are older.
    def wrap_socket(sock, keyfile=None, certfile=None, do_handshake_on_connect=True):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(certfile, keyfile)
        return context.wrap_socket(sock, do_handshake_on_connect=do_handshake_on_connect)

    ssl.wrap_socket = wrap_socket

import apns3  # noqa: E402
import apns_clerk  # noqa: E402
import apns_clerk.apns  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    # After an error this version calls its own resending with one argument too many.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]


# PyAPNs in its version for Python 3


@pytest.fixture
def pyapns(emulator):
    certificate, key = emulator.push_certificate()
    opened = []

    def make(enhanced):
        client = apns3.APNs(use_sandbox=True, cert_file=certificate, key_file=key, enhanced=enhanced)
        client.gateway_server.server, client.gateway_server.port = emulator.address("gateway")
        client.feedback_server.server, client.feedback_server.port = emulator.address("feedback")
        opened.append(client)
        return client

    yield make
    for client in opened:
        if client.enhanced:
            client.gateway_server.force_close()


def test_pyapns_command_0(emulator, pyapns):
    phone = Phone(emulator)
    pyapns(False).gateway_server.send_notification(phone.hex, apns3.Payload(alert="zero", badge=1))
    phone_sees(phone, "zero")


def test_pyapns_command_1(emulator, pyapns):
    phone = Phone(emulator)
    expiry = int(time.time()) + 3600
    pyapns(True).gateway_server.send_notification(phone.hex, apns3.Payload(alert="one"), identifier=7, expiry=expiry)
    phone_sees(phone, "one")


def test_pyapns_command_2_several_at_once(emulator, pyapns):
    phones = [Phone(emulator, f"phone-{n}") for n in range(3)]
    frame = apns3.Frame()
    for number, phone in enumerate(phones):
        frame.add_item(phone.hex, apns3.Payload(alert="two"), number, int(time.time()) + 3600, 10)
    pyapns(True).gateway_server.send_notification_multiple(frame)
    for phone in phones:
        phone_sees(phone, "two")


def test_pyapns_hears_of_a_bad_token(emulator, pyapns):
    errors = []
    gateway = pyapns(True).gateway_server
    gateway.register_response_listener(errors.append)
    gateway.send_notification("cd" * 32, apns3.Payload(alert="nobody"), identifier=4711, expiry=0x7FFFFFFF)
    eventually(lambda: errors == [{"status": 8, "identifier": 4711}], "the error is told")


def test_pyapns_reads_feedback(emulator, pyapns):
    phone = Phone(emulator)
    remove_and_try(emulator, phone, lambda: pyapns(False).gateway_server.send_notification(
        phone.hex, apns3.Payload(alert="gone")))
    # Its buffer starts as bytes in this version, so that whole tuples come out.
    [(token, moment)] = list(pyapns(False).feedback_server.items())
    assert token.decode() == phone.hex
    assert abs(moment - datetime.datetime.utcfromtimestamp(time.time())) < datetime.timedelta(minutes=1)
    assert list(pyapns(False).feedback_server.items()) == []


# apns-clerk, which speaks nothing newer than TLS 1.0


@pytest.fixture
def old_emulator(stopped_emulator):
    return stopped_emulator.start("--legacy-tls")


class Clerk:
    def __init__(self, emulator):
        self.session = apns_clerk.Session(read_tail_timeout=1)
        certificate, key = emulator.push_certificate()
        self.emulator, self.identity = emulator, {"cert_file": certificate, "key_file": key}

    def service(self, listener):
        make = self.session.new_connection if listener == "feedback" else self.session.get_connection
        connection = make(self.emulator.address(listener), **self.identity)
        # Today's OpenSSL allows the protocol of then only on request.
        connection.certificate.get_context().set_cipher_list(b"DEFAULT:@SECLEVEL=0")
        return apns_clerk.APNs(connection)

    def send(self, tokens, **content):
        return self.service("gateway").send(apns_clerk.Message(tokens, **content))


def test_clerk_sends_to_all(old_emulator):
    phones = [Phone(old_emulator, f"phone-{n}") for n in range(3)]
    result = Clerk(old_emulator).send([phone.hex for phone in phones], alert="clerk", badge=3)
    assert not result.failed and not result.errors and not result.needs_retry()
    assert [phone.alerts() for phone in phones] == [["clerk"]] * 3


def test_clerk_learns_which_token_failed_and_sends_the_rest_again(old_emulator):
    phones = [Phone(old_emulator, f"phone-{n}") for n in range(3)]
    tokens = [phones[0].hex, "ef" * 32, phones[1].hex, phones[2].hex]
    clerk = Clerk(old_emulator)
    result = clerk.send(tokens, alert="retry")
    assert list(result.failed) == ["ef" * 32]
    assert result.needs_retry()
    again = clerk.service("gateway").send(result.retry())
    assert not again.failed and not again.needs_retry()
    assert [phone.alerts() for phone in phones] == [["retry"]] * 3


def test_clerk_reads_feedback(old_emulator):
    phone, clerk = Phone(old_emulator), Clerk(old_emulator)
    remove_and_try(old_emulator, phone, lambda: clerk.send([phone.hex], alert="gone"))
    [(token, _)] = list(clerk.service("feedback").feedback())
    assert token.decode() == phone.hex if isinstance(token, bytes) else token == phone.hex
    assert list(clerk.service("feedback").feedback()) == []


def test_old_tls_is_refused_unless_asked_for(emulator):
    phone = Phone(emulator)
    with pytest.raises(Exception):
        Clerk(emulator).send([phone.hex], alert="too old")
    assert phone.alerts() == []


# What these tests share


def phone_sees(phone, text):
    """The libraries do not say when a notification has arrived, so the phone comes until it is there."""
    seen = []
    eventually(lambda: seen.extend(phone.alerts()) or seen == [text], f"the phone has {text!r} alone")


def remove_and_try(emulator, phone, push):
    """The app is removed, a push to it is accepted, and the phone reports the app as gone when it is tried."""
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/remove", {})
    push()

    def is_gone():
        assert phone.alerts() == []
        return emulator.api("GET", f"/api/v1/tokens?token={phone.hex}")["tokens"][0]["state"] == "gone"

    eventually(is_gone, "the token is gone")
