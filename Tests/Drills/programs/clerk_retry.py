"""apns-clerk: a message to a list of device tokens, and again what its answer says is to be sent again."""

from apns_clerk import APNs, Message, Session

from batch import HELLO, address, report, setting, tokens

session = Session(read_tail_timeout=3)


def service(listener):
    make = session.new_connection if listener == "FEEDBACK" else session.get_connection
    connection = make(address(listener), cert_file=setting("CERT"), key_file=setting("CERT_KEY"))
    # It speaks TLS 1.0, which OpenSSL of today allows on request alone.
    connection.certificate.get_context().set_cipher_list(b"DEFAULT:@SECLEVEL=0")
    return APNs(connection)


message = Message(tokens, alert=HELLO)
while message:
    answer = service("GATEWAY").send(message)
    for token, (status, why) in answer.failed.items():
        report(token, f"status {status}: {why}")
    for status, why in answer.errors:
        raise SystemExit(f"status {status}: {why}")
    message = answer.retry() if answer.needs_retry() else None
