"""Who a provider is: token keys and the tokens made with them, and certificates that the emulator would not issue."""

import base64
import datetime
import hashlib
import hmac
import json
import time

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

USER_ID = ObjectIdentifier("0.9.2342.19200300.100.1.1")
APPLE_PUSH = ObjectIdentifier("1.2.840.113635.100.6.3.1"), ObjectIdentifier("1.2.840.113635.100.6.3.2")
NULL = b"\x05\x00"
RAW, DER = "raw", "der"


def base64url(data, padded=False, standard=False):
    text = (base64.b64encode if standard else base64.urlsafe_b64encode)(data).decode()
    return text if padded else text.rstrip("=")


class TokenKey:
    """A key as `certs key` wrote it."""

    def __init__(self, emulator, key_id):
        with open(emulator.path("certs", "keys", f"AuthKey_{key_id}.p8"), "rb") as file:
            self.key = serialization.load_pem_private_key(file.read(), None)
        with open(emulator.path("certs", "keys", f"{key_id}.json")) as file:
            self.key_id, self.team = key_id, json.load(file)["teamId"]

    def token(self, age=0, form=RAW, padded=False, standard=False, header=None, claims=None, key=None):
        """A provider token; `header` and `claims` change members, None leaves one out."""
        header = {"alg": "ES256", "kid": self.key_id} | (header or {})
        claims = {"iss": self.team, "iat": int(time.time()) - age} | (claims or {})
        parts = [
            json.dumps({name: value for name, value in part.items() if value is not None}) for part in (header, claims)]
        signed = ".".join(base64url(part.encode(), padded, standard) for part in parts)
        signature = self._sign(signed.encode(), header["alg"], form, key or self.key)
        return signed + "." + base64url(signature, padded, standard)

    @staticmethod
    def _sign(message, algorithm, form, key):
        if algorithm == "none":
            return b""
        if algorithm == "HS256":
            return hmac.digest(b"secret", message, "sha256")
        der = key.sign(message, ec.ECDSA(hashes.SHA384() if algorithm == "ES384" else hashes.SHA256()))
        if form == DER:
            return der
        size = (key.curve.key_size + 7) // 8
        return b"".join(number.to_bytes(size, "big") for number in decode_dss_signature(der))


def bearer(token):
    return f"bearer {token}"


def flipped(token, part):
    """The token with one bit of one of its three parts changed."""
    parts = token.split(".")
    middle = len(parts[part]) // 2
    letter = parts[part][middle]
    parts[part] = parts[part][:middle] + ("A" if letter != "A" else "B") + parts[part][middle + 1:]
    return ".".join(parts)


class CertificateMaker:
    """Issues client certificates as an authority that does what it is told."""

    def __init__(self, folder, authority=None):
        self.folder = folder
        if authority:
            with open(authority + ".pem", "rb") as file:
                self.certificate = x509.load_pem_x509_certificate(file.read())
            with open(authority + ".key", "rb") as file:
                self.key = serialization.load_pem_private_key(file.read(), None, unsafe_skip_rsa_key_validation=True)
            self.name = self.certificate.subject
        else:
            self.key = ec.generate_private_key(ec.SECP256R1())
            self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Somebody else")])

    def issue(self, common_name, topic=None, days=(-1, 30)):
        """Answers the paths of certificate and key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
        subject += [x509.NameAttribute(USER_ID, topic)] if topic else []
        now = datetime.datetime.now(datetime.timezone.utc)
        start, end = (now + datetime.timedelta(days=day) for day in days)
        builder = (
            x509.CertificateBuilder().subject_name(x509.Name(subject)).issuer_name(self.name)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(start).not_valid_after(end)
            .add_extension(x509.BasicConstraints(False, None), True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False))
        for identifier in APPLE_PUSH:
            builder = builder.add_extension(x509.UnrecognizedExtension(identifier, NULL), False)
        certificate = builder.sign(self.key, hashes.SHA256())
        return self._write(hashlib.sha1(common_name.encode()).hexdigest()[:8], certificate, key)

    def _write(self, name, certificate, key):
        paths = [f"{self.folder}/{name}.pem", f"{self.folder}/{name}.key"]
        contents = [
            certificate.public_bytes(serialization.Encoding.PEM),
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())]
        for path, content in zip(paths, contents):
            with open(path, "wb") as file:
                file.write(content)
        return tuple(paths)
