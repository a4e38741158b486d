"""pushjack: a list of device tokens at once, whose answer has the errors, and the tokens that have expired."""

import tempfile

import old_ssl  # noqa: F401
from pushjack import APNSClient

from batch import HELLO, address, report, setting, tokens

# Certificate and key in one file.
with tempfile.NamedTemporaryFile("w", suffix=".pem") as bundle:
    for name in ("CERT", "CERT_KEY"):
        with open(setting(name)) as part:
            bundle.write(part.read())
    bundle.flush()
    client = APNSClient(
        certificate=bundle.name, default_error_timeout=10, default_expiration_offset=2592000, default_batch_size=100,
        default_retries=5)
    # Its servers are constants.
    client.host, client.port = address("GATEWAY")
    client.feedback_host, client.feedback_port = address("FEEDBACK")
    gone = {each.token for each in client.get_expired_tokens()}
    for token in gone.intersection(tokens):
        report(token, "gone")
    answer = client.send([token for token in tokens if token not in gone], HELLO)
    for token, error in answer.token_errors.items():
        report(token, error)
    client.close()
