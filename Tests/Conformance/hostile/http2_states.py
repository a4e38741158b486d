"""Row 9: the eight cases of h2spec that were wrong, as raw frames (RFC 9113 5.1, 5.1.1, 6.1)."""

from hyperframe.frame import GoAwayFrame, RstStreamFrame

from wire import CANCEL, PROTOCOL_ERROR, STREAM_CLOSED, raw_frame

DATA, HEADERS, RST_STREAM = 0, 1, 3
END_STREAM, END_HEADERS = 1, 4


def attack(run):
    lab = run.quiet_lab()
    wrong = []
    for name, (case, codes) in CASES.items():
        with lab.connect(certificate=lab.emulator.push_certificate()) as connection:
            connection.wait_for_settings()
            connection.socket.settimeout(run.timeout)
            got = ended(connection, case(lab, connection))
            if got not in codes:
                wrong.append(f"{name}: {got}")
    right = len(CASES) - len(wrong)
    run.holds("HTTP/2 cases", not wrong, f"{right} of {len(CASES)}" + (f" ({'; '.join(wrong)})" if wrong else ""), "8 of 8")


def ended(connection, stream):
    """The code of the error, of the connection or of the stream, that answers what was sent; None if none does."""
    try:
        connection.barrier()
    except (AssertionError, OSError):
        pass
    for frame in connection.frames:
        if isinstance(frame, GoAwayFrame):
            return frame.error_code
        if isinstance(frame, RstStreamFrame) and frame.stream_id == stream:
            return frame.error_code
    return None


def headers(lab, connection, stream, flags=0):
    return raw_frame(HEADERS, END_HEADERS | flags, stream, connection.block(lab.fields(authorization=None)))


def half_closed_then(frame):
    """The client has ended its stream, and goes on."""
    def case(lab, connection):
        connection.send(headers(lab, connection, 1, END_STREAM), frame(lab, connection, 1))
        return 1
    return case


def reset_then(frame):
    """The client has cancelled its stream, and goes on."""
    def case(lab, connection):
        cancel = raw_frame(RST_STREAM, 0, 1, bytes([0, 0, 0, CANCEL]))
        connection.send(headers(lab, connection, 1), cancel, frame(lab, connection, 1))
        return 1
    return case


def answered_then(frame):
    """Both sides have ended the stream, and the client goes on."""
    def case(lab, connection):
        connection.send(headers(lab, connection, 1, END_STREAM))
        connection.answer(1)
        connection.send(frame(lab, connection, 1))
        return 1
    return case


def backwards(lab, connection):
    connection.send(headers(lab, connection, 5, END_STREAM), headers(lab, connection, 3, END_STREAM))
    return 3


def data(lab, connection, stream):
    return raw_frame(DATA, END_STREAM, stream, b"test")


def more_headers(lab, connection, stream):
    return headers(lab, connection, stream, END_STREAM)


CASES = {
    "5.1/5 half closed: DATA": (half_closed_then(data), {STREAM_CLOSED}),
    "5.1/6 half closed: HEADERS": (half_closed_then(more_headers), {STREAM_CLOSED}),
    "5.1/8 reset: DATA": (reset_then(data), {STREAM_CLOSED}),
    "5.1/9 reset: HEADERS": (reset_then(more_headers), {STREAM_CLOSED}),
    "5.1/11 closed: DATA": (answered_then(data), {STREAM_CLOSED}),
    "5.1/12 closed: HEADERS": (answered_then(more_headers), {STREAM_CLOSED}),
    "5.1.1/2 a stream that goes backwards": (backwards, {PROTOCOL_ERROR}),
    "6.1/2 DATA on a stream that is not open": (half_closed_then(data), {STREAM_CLOSED}),
}
