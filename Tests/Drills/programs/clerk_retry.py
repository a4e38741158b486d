"""apns-clerk: a message to a list of device tokens, and again what its answer says is to be sent again."""

import sys

import OpenSSL
from apns_clerk import APNs, Message, Session

from batch import HELLO, address, report, setting, tokens

# It asks for TLS 1.0, which the emulator takes on request alone.
OpenSSL.SSL.TLSv1_METHOD = OpenSSL.SSL.TLSv1_2_METHOD
session = Session()
identity = {"cert_file": setting("CERT"), "key_file": setting("CERT_KEY")}

feedback = APNs(session.new_connection(address("FEEDBACK"), **identity))
gone = {token for token, _ in feedback.feedback()}
for token in gone.intersection(tokens):
    report(token, "gone")

message = Message([token for token in tokens if token not in gone], alert=HELLO)
while message:
    answer = APNs(session.get_connection(address("GATEWAY"), **identity)).send(message)
    for token, (status, why) in answer.failed.items():
        report(token, f"status {status}: {why}")
    for status, why in answer.errors:
        print(f"status {status}: {why}", file=sys.stderr)
    message = answer.retry() if answer.needs_retry() else None
