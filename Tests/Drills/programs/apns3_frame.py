"""apns3 (PyAPNs for Python 3): several notifications in one transmission. Python 3.12 and later need `ssl.wrap_socket` back."""

import time

import old_ssl  # noqa: F401
from apns3 import APNs, Frame, Payload

from batch import HELLO, address, report, setting, tokens

apns = APNs(use_sandbox=True, cert_file=setting("CERT"), key_file=setting("CERT_KEY"), enhanced=True)
# Its servers are constants.
apns.gateway_server.server, apns.gateway_server.port = address("GATEWAY")
apns.feedback_server.server, apns.feedback_server.port = address("FEEDBACK")
apns.gateway_server.register_response_listener(lambda answer: report(tokens[answer["identifier"]], f"status {answer['status']}"))
gone = {token.decode() for token, _ in apns.feedback_server.items()}
frame = Frame()
for number, token in enumerate(tokens):
    if token in gone:
        report(token, "gone")
    else:
        frame.add_item(token, Payload(alert=HELLO), number, int(time.time()) + 3600, 10)
apns.gateway_server.send_notification_multiple(frame)
# Nothing says that all was read, so programs wait a while.
time.sleep(2)
apns.gateway_server.force_close()
