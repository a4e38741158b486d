"""Certificates and keys over the console, used by programs that don't see the certs folder."""

import base64
import json
import shutil
import subprocess
import time
import urllib.request

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from harness import TIMEOUT, TOPIC

PUSH = ["-H", "apns-push-type: alert", "-H", f"apns-topic: {TOPIC}", "-d", '{"aps":{"alert":"Hi"}}']


@pytest.fixture
def folder(emulator, tmp_path):
    """Somebody else's folder, with what the emulator answers over HTTP alone."""
    (tmp_path / "ca.pem").write_bytes(download(emulator, "ca.pem"))
    return tmp_path


def download(emulator, name):
    host, port = emulator.address("console")
    return urllib.request.urlopen(f"http://{host}:{port}/api/v1/{name}").read()


def push(emulator, folder, *flags):
    """The status that curl gets."""
    token = emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install")["token"]
    _, port = emulator.address("provider")
    return subprocess.run(
        ["curl", "--silent", "--http2", "--cacert", "ca.pem", *flags, *PUSH, "--output", "answer", "--write-out",
         "%{http_code}", f"https://localhost:{port}/3/device/{token}"],
        cwd=folder, check=True, capture_output=True, text=True).stdout


def test_keys_that_are_made_are_sound(emulator, tmp_path):
    """OpenSSL checks that the primes are primes, and what follows from them; no client of this time refuses the exponent."""
    emulator.run("certs", "push", "--topic", "com.example.new")
    keys = [path for path in (tmp_path / "certs").rglob("*.key") if path.name != "server-ec.key"]
    assert len(keys) >= 4
    for key in keys:
        told = subprocess.run(
            ["openssl", "rsa", "-in", key, "-check", "-noout", "-text"], check=True, capture_output=True, text=True).stdout
        assert "RSA key ok" in told and "(2048 bit, 2 primes)" in told and "publicExponent: 65537 (0x10001)" in told, told
        # Some libraries take no others.
        numbers = load_pem_private_key(key.read_bytes(), None).private_numbers()
        assert numbers.p > numbers.q


def test_curl_pushes_with_a_downloaded_ca_and_an_issued_p12(emulator, folder):
    made = emulator.api(
        "POST", "/api/v1/certificates", {"topics": [TOPIC], "format": "p12", "password": "secret"})
    assert sorted(made) == ["certificate", "environment", "pkcs12Base64", "sha256", "topics"]
    (folder / "push.p12").write_bytes(base64.b64decode(made["pkcs12Base64"]))
    assert push(emulator, folder, "--cert-type", "P12", "--cert", "push.p12:secret") == "200"
    with pytest.raises(subprocess.CalledProcessError):
        push(emulator, folder, "--cert-type", "P12", "--cert", "push.p12:wrong")


def test_a_request_is_signed_and_its_key_stays_where_it_is(emulator, folder):
    subprocess.run(
        ["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", "my.key", "-out", "my.csr", "-subj",
         "/CN=anybody"], cwd=folder, check=True, capture_output=True)
    made = emulator.api(
        "POST", "/api/v1/certificates", {"topics": [TOPIC], "csr": (folder / "my.csr").read_text()})
    assert sorted(made) == ["certificate", "environment", "sha256", "topics"]
    (folder / "my.pem").write_text(made["certificate"])
    assert push(emulator, folder, "--cert", "my.pem", "--key", "my.key") == "200"


def test_a_key_signs_tokens_at_once_and_is_never_answered_again(emulator, folder):
    made = emulator.api("POST", "/api/v1/keys", {"team": "TEAM123456"})
    path = folder / f"AuthKey_{made['keyId']}.p8"
    path.write_text(made["p8"])
    token = emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install")["token"]
    sent = emulator.run(
        "send", "--topic", TOPIC, "--token", token, "--key", str(path), "--team", "TEAM123456", "--payload",
        '{"aps":{"alert":"Hi"}}')
    assert json.loads(sent.stdout)["status"] == 200
    lists = json.dumps([emulator.api("GET", f"/api/v1/{name}") for name in ("keys", "certificates")])
    assert made["keyId"] in lists and "PRIVATE" not in lists


def test_keys_are_known_and_revoked_at_once_however_fast_they_come(emulator):
    """As a fast suite does it that makes a key for each test."""
    token = emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install")["token"]
    url = "http://{}:{}/3/device/{}".format(*emulator.address("console"), token)
    fields = {"apns-topic": TOPIC, "apns-push-type": "alert"}
    statuses = []
    with httpx.Client(trust_env=False, timeout=TIMEOUT) as client:
        for _ in range(25):
            key = emulator.api("POST", "/api/v1/keys", {"team": "TEAM123456"})
            bearer = jwt.encode({"iss": "TEAM123456", "iat": int(time.time())}, key["p8"], "ES256", {"kid": key["keyId"]})
            headers = fields | {"authorization": f"bearer {bearer}"}
            statuses.append(client.post(url, headers=headers, content=b'{"aps":{"alert":"Hi"}}').status_code)
            emulator.api("DELETE", f"/api/v1/keys/{key['keyId']}")
            statuses.append(client.post(url, headers=headers, content=b'{"aps":{"alert":"Hi"}}').status_code)
    assert statuses == [200, 403] * 25


def openssl(folder, *words):
    return subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def files(emulator, folder):
    """A certificate in every shape that people have it in, made by openssl."""
    certificate, key = emulator.push_certificate(TOPIC)
    (folder / "push.pem").write_bytes(open(certificate, "rb").read())
    (folder / "push.key").write_bytes(open(key, "rb").read())
    (folder / "both.pem").write_bytes((folder / "push.pem").read_bytes() + (folder / "push.key").read_bytes())
    openssl(folder, "x509", "-in", "push.pem", "-outform", "der", "-out", "aps.cer")
    openssl(folder, "pkcs12", "-export", "-in", "both.pem", "-out", "push.p12", "-passout", "pass:secret")
    openssl(folder, "rsa", "-in", "push.key", "-aes128", "-passout", "pass:secret", "-out", "locked.pem")
    return folder


def send(emulator, *flags):
    token = emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install")["token"]
    return emulator.run(
        "send", "--topic", TOPIC, "--token", token, "--payload", '{"aps":{"alert":"Hi"}}', *flags, check=False)


@pytest.mark.parametrize("names", [
    ("push.pem",), ("both.pem",), ("push.p12", "secret"), ("aps.cer", "push.key"), ("aps.cer", "locked.pem", "secret"),
    ("push.pem", "locked.pem", "secret"), ("aps.cer", "push.p12", "secret")])
@pytest.mark.parametrize("legacy", [(), ("--legacy", "1")])
def test_send_takes_a_certificate_as_people_have_it(emulator, files, names, legacy):
    flags = ["--cert", str(files / names[0])]
    if len(names) > 1 and names[1] != "secret":
        flags += ["--cert-key", str(files / names[1])]
    if names[-1] == "secret":
        flags += ["--cert-password", "secret"]
    sent = send(emulator, *flags, *legacy)
    assert json.loads(sent.stdout)["accepted"], sent.stderr


@pytest.mark.parametrize("name, flags, sentence", [
    ("push.p12", [], "has another password"), ("push.p12", ["--cert-password", "wrong"], "has another password"),
    ("aps.cer", [], "no key that can be read"), ("ca.pem", [], "no key that can be read"),
    ("push.key", [], "expected a certificate in PEM, PKCS#12 or DER"), ("old.p12", ["--cert-password", "x"], "RC2")])
def test_what_can_not_be_used_is_told(emulator, files, name, flags, sentence):
    openssl(files, "pkcs12", "-export", "-legacy", "-in", "both.pem", "-out", "old.p12", "-passout", "pass:x")
    (files / "push.key").rename(files / "moved.key")
    if name == "push.key":
        (files / "moved.key").rename(files / "push.key")
    told = send(emulator, "--cert", str(files / name), *flags)
    assert told.returncode == 1 and sentence in told.stderr


def convert(emulator, folder, *words, check=True):
    return emulator.run("certs", "convert", *[str(folder / word) if "." in word else word for word in words], check=check)


def test_convert_goes_both_ways_and_says_what_it_stands_for(emulator, files):
    told = convert(emulator, files, "push.p12", "--password", "secret", "--out", "out.pem")
    assert f"openssl pkcs12 -in {files / 'push.p12'} -nodes -out {files / 'out.pem'}" in told.stderr
    assert (files / "out.pem").stat().st_mode & 0o777 == 0o600
    told = convert(
        emulator, files, "aps.cer", "--key", "push.key", "--out", "back.p12", "--out-password", "other")
    assert "openssl x509 -inform der" in told.stderr and "openssl pkcs12 -export" in told.stderr
    convert(emulator, files, "back.p12", "--password", "other", "--out", "alone.key")
    text = openssl(files, "pkcs12", "-in", "back.p12", "-passin", "pass:other", "-nodes")
    assert text.count("-----BEGIN ") == 2
    same = openssl(files, "pkey", "-in", "push.key", "-pubout")
    assert openssl(files, "pkey", "-in", "alone.key", "-pubout") == same
    assert push(emulator, files, "--cert", "out.pem") == "200"
    assert push(emulator, files, "--cert-type", "P12", "--cert", "back.p12:other") == "200"
    refused = convert(emulator, files, "both.pem", "--out", "out.pem", check=False)
    assert refused.returncode == 1 and "is there already" in refused.stderr
    refused = convert(emulator, files, "both.pem", "--out", "out.txt", check=False)
    assert refused.returncode == 2 and "ends in .pem, .p12 or .key" in refused.stderr


def test_convert_keeps_the_certificates_above(emulator, files):
    (files / "chain.pem").write_bytes((files / "both.pem").read_bytes() + (files / "ca.pem").read_bytes())
    convert(emulator, files, "chain.pem", "--out", "chain.p12", "--out-password", "other")
    text = openssl(files, "pkcs12", "-in", "chain.p12", "-passin", "pass:other", "-nokeys")
    assert text.count("BEGIN CERTIFICATE") == 2


@pytest.mark.skipif(shutil.which("keytool") is None, reason="there is no keytool of a Java here")
def test_java_trusts_the_store(emulator, folder):
    (folder / "ca.jks").write_bytes(download(emulator, "ca.jks"))
    told = subprocess.run(
        ["keytool", "-list", "-keystore", "ca.jks", "-storepass", "changeit"], cwd=folder, check=True,
        capture_output=True, text=True).stdout
    assert "1 entry" in told and "trustedCertEntry" in told


def test_a_revoked_certificate_ends_in_the_handshake_and_a_revoked_key_in_403(emulator, folder):
    made = emulator.api("POST", "/api/v1/certificates", {"topics": ["com.example.revoked"]})
    (folder / "push.pem").write_text(made["certificate"])
    (folder / "push.key").write_text(made["privateKey"])
    _, port = emulator.address("provider")
    handshake = ["openssl", "s_client", "-connect", f"localhost:{port}", "-tls1_2", "-cert", "push.pem", "-key",
                 "push.key", "-quiet", "-no_ign_eof"]
    emulator.run("certs", "revoke", str(folder / "push.pem"))
    refused = subprocess.run(handshake, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert "alert certificate revoked" in refused.stderr

    key = emulator.api("POST", "/api/v1/keys", {"team": "TEAM123456"})
    path = folder / f"AuthKey_{key['keyId']}.p8"
    path.write_text(key["p8"])
    token = emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/install")["token"]
    send = ["send", "--topic", TOPIC, "--token", token, "--key", str(path), "--team", "TEAM123456", "--payload", "{}"]
    assert json.loads(emulator.run(*send).stdout)["status"] == 200
    emulator.api("DELETE", f"/api/v1/keys/{key['keyId']}")
    answer = json.loads(emulator.run(*send, check=False).stdout)
    assert (answer["status"], answer["reason"]) == (403, "InvalidProviderToken")
    assert [row["revoked"] for row in emulator.api("GET", "/api/v1/keys")["keys"] if row["keyId"] == key["keyId"]] == [True]
