"""Which server certificate clients get: by what they know, and by what lies in the folder."""

import datetime
import os
import socket
import ssl
import stat

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from harness import TIMEOUT

LISTENERS = ["gateway", "feedback", "provider", "courier"]


def client(emulator, ca=None, suites=None, version=None):
    context = ssl.create_default_context(cafile=ca or emulator.ca)
    context.load_cert_chain(*emulator.push_certificate())
    if suites:
        context.set_ciphers(suites)
    if version:
        context.minimum_version = context.maximum_version = version
    return context


def shown(emulator, listener, context):
    """The certificate that such a client gets, verified for localhost."""
    with socket.create_connection(emulator.address(listener), TIMEOUT) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as secured:
            return ssl.DER_cert_to_PEM_cert(secured.getpeercert(binary_form=True))


def first(path):
    """The first certificate of a file, in the same spelling."""
    with open(path, "rb") as file:
        certificate = x509.load_pem_x509_certificates(file.read())[0]
    return ssl.DER_cert_to_PEM_cert(certificate.public_bytes(serialization.Encoding.DER))


def old(context):
    """TLS 1.0 with the cipher suites of then, as clients of 2009 had them."""
    context.set_ciphers("kRSA:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1
    return context


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_new_clients_get_p256_and_old_ones_rsa(stopped_emulator):
    emulator = stopped_emulator.start("--legacy-tls")
    rsa_certificate, p256 = first(emulator.path("certs", "server.pem")), first(emulator.path("certs", "server-ec.pem"))
    assert rsa_certificate != p256
    for listener in LISTENERS:
        assert shown(emulator, listener, client(emulator)) == p256
        for suites in "aRSA", "kRSA":
            plain = client(emulator, suites=suites, version=ssl.TLSVersion.TLSv1_2)
            assert shown(emulator, listener, plain) == rsa_certificate
    for listener in "gateway", "feedback":
        assert shown(emulator, listener, old(client(emulator))) == rsa_certificate


def test_a_folder_from_before_gets_a_p256_certificate_at_start(stopped_emulator):
    pair = [stopped_emulator.path("certs", "server-ec" + end) for end in (".pem", ".key")]
    for path in pair:
        os.unlink(path)
    before = first(stopped_emulator.path("certs", "server.pem"))
    emulator = stopped_emulator.start()
    assert stat.S_IMODE(os.stat(pair[1]).st_mode) == 0o600
    assert first(emulator.path("certs", "server.pem")) == before
    assert shown(emulator, "provider", client(emulator)) == first(pair[0])


class Authority:
    """Somebody's own: a root, and below it an authority that issues."""

    def __init__(self):
        self.root_key, self.key = (rsa.generate_private_key(65537, 2048) for _ in range(2))
        self.root = self.signed("root", self.root_key, None, self.root_key, is_authority=True)
        self.middle = self.signed("middle", self.key, self.root, self.root_key, is_authority=True)

    def signed(self, name, key, issuer, issuer_key, is_authority=False):
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        now = datetime.datetime.now(datetime.timezone.utc)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer.subject if issuer else subject)
        builder = builder.public_key(key.public_key()).serial_number(x509.random_serial_number())
        builder = builder.not_valid_before(now - datetime.timedelta(days=1))
        builder = builder.not_valid_after(now + datetime.timedelta(days=30))
        builder = builder.add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        if not is_authority:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        return builder.sign(issuer_key, hashes.SHA256())

    def issue(self, folder, name, key):
        """Writes a server's pair, with the whole chain in the certificate's file."""
        leaf = self.signed("localhost", key, self.middle, self.key)
        pem = b"".join(each.public_bytes(serialization.Encoding.PEM) for each in (leaf, self.middle))
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        for end, content in ((".pem", pem), (".key", secret)):
            with open(os.path.join(folder, name + end), "wb") as file:
                file.write(content)

    def write_root(self, path):
        with open(path, "wb") as file:
            file.write(self.root.public_bytes(serialization.Encoding.PEM))
        return str(path)


@pytest.fixture
def own(stopped_emulator, tmp_path):
    """A folder whose server certificate is of somebody's own authority; answers that and the file with its root."""
    authority = Authority()
    authority.issue(stopped_emulator.path("certs"), "server", rsa.generate_private_key(65537, 2048))
    return authority, authority.write_root(tmp_path / "root.pem")


def test_a_certificate_of_ones_own_is_the_only_one(stopped_emulator, own):
    _, root = own
    emulator = stopped_emulator.start()
    mine = first(emulator.path("certs", "server.pem"))
    assert {shown(emulator, listener, client(emulator, root)) for listener in LISTENERS} == {mine}
    assert "all clients get the same server certificate" in emulator.told("different CAs")


def test_two_certificates_of_ones_own_each_come_with_their_chain(stopped_emulator, own):
    """A client that trusts the root alone needs the authority in between."""
    authority, root = own
    authority.issue(stopped_emulator.path("certs"), "server-ec", ec.generate_private_key(ec.SECP256R1()))
    emulator = stopped_emulator.start()
    older = client(emulator, root, suites="aRSA", version=ssl.TLSVersion.TLSv1_2)
    for listener in LISTENERS:
        assert shown(emulator, listener, client(emulator, root)) == first(emulator.path("certs", "server-ec.pem"))
        assert shown(emulator, listener, older) == first(emulator.path("certs", "server.pem"))
