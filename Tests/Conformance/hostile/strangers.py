"""Row 20: what strangers' keys and files would cost if they were used as they come."""

import base64
import contextlib
import datetime
import http.client
import math
import plistlib
import threading
import time
import urllib.error
import urllib.parse

from courier import Device
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID
from harness import TOPIC
from rig import attackers

ACTIVATION = "/deviceservices/deviceActivation?device=iPhone"
# Whoever has a key made must not wait for files of others, in seconds: it takes some milliseconds.
WAIT_FOR_OTHERS = 1


def long_key(bits=3072):
    """An RSA key whose public exponent is nearly as long as its modulus: each use takes a hundred times as long."""
    ordinary = rsa.generate_private_key(65537, bits).private_numbers()
    p, q, n = ordinary.p, ordinary.q, ordinary.public_numbers.n
    order = math.lcm(p - 1, q - 1)
    # The order is even, so that an odd number may have no divisor in common with it.
    exponent = order - 3
    while math.gcd(exponent, order) != 1:
        exponent -= 2
    secret = pow(exponent, -1, order)
    numbers = rsa.RSAPrivateNumbers(
        p, q, secret, secret % (p - 1), secret % (q - 1), ordinary.iqmp, rsa.RSAPublicNumbers(exponent, n))
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)


def form(key, udid="stranger"):
    """What a device posts to be activated."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, udid)])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    inner = plistlib.dumps(
        {"UniqueDeviceID": udid, "DeviceCertRequest": request.public_bytes(serialization.Encoding.PEM)})
    outer = plistlib.dumps({"ActivationInfoXML": inner})
    return urllib.parse.urlencode({"activation-info": outer}).encode()


def activate(client, body):
    client.request("POST", ACTIVATION, body, {"Content-Type": "application/x-www-form-urlencoded"})
    answer = client.getresponse()
    answer.read()
    return answer


def attack_activations(run):
    """Activations without end over a hundred connections, by keys that are dear to use and by ordinary ones."""
    lab = run.quiet_lab()
    forms = [form(long_key()), form(rsa.generate_private_key(65537, 2048))]
    answers, rude = {}, []

    def flood(number, end):
        client = http.client.HTTPConnection(*lab.emulator.address("console"), timeout=run.timeout)
        with contextlib.closing(client):
            while time.monotonic() < end:
                answer = activate(client, forms[number % 2])
                answers[answer.status] = answers.get(answer.status, 0) + 1
                if answer.status == 503 and not answer.headers["Retry-After"]:
                    rude.append(number)

    with run.beside(lab):
        attackers(20 if run.is_short else 100, flood, run.seconds)
    run.tell("answers", answers)
    run.holds("statuses", set(answers) <= {200, 400, 503}, sorted(answers), "200, 400 and 503")
    run.holds("503 without Retry-After", not rude, len(rude), "0")
    client = http.client.HTTPConnection(*lab.emulator.address("console"), timeout=run.timeout)
    with contextlib.closing(client):
        dear, ordinary = (activate(client, each).status for each in forms)
    run.holds("a key with a long exponent", dear == 400, dear, "400")
    run.holds("an ordinary one", ordinary == 200, ordinary, "200")
    run.grew()


def own_certificate(key):
    """One that its owner has signed, and nobody knows."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stranger")])
    now, hour = datetime.datetime.now(datetime.timezone.utc), datetime.timedelta(hours=1)
    return (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(now - hour).not_valid_after(now + hour).sign(key, hashes.SHA256()))


def attack_connects(run):
    """Devices whose keys are dear to use connect as often as they are let."""
    lab = run.quiet_lab()
    key = long_key()
    certificate = own_certificate(key)
    identity = lab.emulator.device_certificate("honest-phone")
    accepted, refused = [0], [0]

    def flood(_, end):
        while time.monotonic() < end:
            device = Device(lab.emulator, *identity, TOPIC)
            device.certificate, device.key, device.timeout = certificate, key, run.timeout
            try:
                device.connect()
                accepted[0] += 1
            except (OSError, EOFError, AssertionError):
                refused[0] += 1
            if device.socket:
                device.socket.close()

    with run.beside(lab):
        attackers(4, flood, run.seconds)
    run.holds("connects with a stranger's key", accepted[0] == 0 < refused[0], f"{accepted[0]} accepted", "0")
    run.tell("refused", refused[0])
    run.grew()


def slow_bundle():
    """A PKCS#12 file that wants eight million rounds for each of its keys: seconds, where a file has a thousand of them."""
    key = rsa.generate_private_key(65537, 2048)
    encryption = (
        serialization.PrivateFormat.PKCS12.encryption_builder().kdf_rounds(0x8001)
        .key_cert_algorithm(pkcs12.PBES.PBESv2SHA256AndAES256CBC).build(b"secret"))
    bundle = pkcs12.serialize_key_and_certificates(b"push", key, own_certificate(key), None, encryption)
    rounds = b"\x02\x03\x00\x80\x01"
    assert rounds in bundle
    # It would have to be derived to be written so; what it says is changed afterwards.
    return bundle.replace(rounds, b"\x02\x03\x7f\xff\xff")


def attack_slow_bundle(run):
    """Test pushes with files that take long to decipher; a key is made meanwhile."""
    lab = run.quiet_lab()
    push = {
        "token": lab.token, "topic": TOPIC, "payload": {"aps": {}},
        "credential": {
            "file": base64.b64encode(slow_bundle()).decode(), "name": "push.p12", "password": "secret"}}
    answers = {}

    def flood(_, end):
        while time.monotonic() < end:
            try:
                lab.emulator.api("POST", "/api/v1/push", push)
                status = 200
            except urllib.error.HTTPError as error:
                status = error.code
            answers[status] = answers.get(status, 0) + 1

    made = []

    def issue(_, end):
        while time.monotonic() < end:
            began = time.monotonic()
            lab.emulator.api("POST", "/api/v1/keys", {"team": "TEAM123456"})
            made.append(time.monotonic() - began)
            time.sleep(0.2)

    with run.beside(lab):
        threads = [
            threading.Thread(target=attackers, args=(count, attack, run.seconds))
            for count, attack in ((4, flood), (1, issue))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    run.tell("answers", answers)
    run.holds("files taken", 200 not in answers and answers, answers, "none")
    run.holds("keys made meanwhile", made, len(made), "some")
    run.at_most("a key is made within", max(made, default=0), WAIT_FOR_OTHERS, "s", "nothing stands before it")
    run.grew()
