"""Gives back to old libraries what Python 3.12 took away."""

import ssl


def wrap_socket(sock, keyfile=None, certfile=None, do_handshake_on_connect=True, **_):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(certfile, keyfile)
    return context.wrap_socket(sock, do_handshake_on_connect=do_handshake_on_connect)


if not hasattr(ssl, "wrap_socket"):
    ssl.wrap_socket = wrap_socket
