"""Certificates and keys over the console, used by programs that don't see the certs folder."""

import base64
import json
import shutil
import subprocess
import urllib.request

import pytest

from harness import TOPIC

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


def test_curl_pushes_with_a_downloaded_ca_and_an_issued_p12(emulator, folder):
    made = emulator.api(
        "POST", "/api/v1/certificates", {"topics": [TOPIC], "format": "p12", "password": "secret"})
    assert sorted(made) == ["certificate", "environment", "pkcs12Base64", "topics"]
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
    assert sorted(made) == ["certificate", "environment", "topics"]
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


@pytest.mark.skipif(shutil.which("keytool") is None, reason="there is no keytool of a Java here")
def test_java_trusts_the_store(emulator, folder):
    (folder / "ca.jks").write_bytes(download(emulator, "ca.jks"))
    told = subprocess.run(
        ["keytool", "-list", "-keystore", "ca.jks", "-storepass", "changeit"], cwd=folder, check=True,
        capture_output=True, text=True).stdout
    assert "1 entry" in told and "trustedCertEntry" in told
