"""apns (PyAPNs): several notifications in one transmission."""

import time

from apns import APNs, Frame, Payload

from batch import HELLO, address, setting, tokens

apns = APNs(use_sandbox=True, cert_file=setting("CERT"), key_file=setting("CERT_KEY"))
apns.gateway_server.server, apns.gateway_server.port = address("GATEWAY")
frame = Frame()
for number, token in enumerate(tokens):
    frame.add_item(token, Payload(alert=HELLO), number, int(time.time()) + 3600, 10)
apns.gateway_server.send_notification_multiple(frame)
