"""apns3 (PyAPNs for Python 3), enhanced: one notification after the other, and a listener for error packets."""

import time

import old_ssl  # noqa: F401
from apns3 import APNs, Payload

from batch import HELLO, address, report, setting, tokens

apns = APNs(use_sandbox=True, cert_file=setting("CERT"), key_file=setting("CERT_KEY"), enhanced=True)
# Its servers are constants.
apns.gateway_server.server, apns.gateway_server.port = address("GATEWAY")
apns.feedback_server.server, apns.feedback_server.port = address("FEEDBACK")
apns.gateway_server.register_response_listener(lambda answer: report(tokens[answer["identifier"]], f"status {answer['status']}"))
gone = {token.decode() for token, _ in apns.feedback_server.items()}
for number, token in enumerate(tokens):
    if token in gone:
        report(token, "gone")
        continue
    apns.gateway_server.send_notification(token, Payload(alert=HELLO), identifier=number, expiry=int(time.time()) + 3600)
# Nothing says that all was read, so programs wait a while.
time.sleep(2)
apns.gateway_server.force_close()
