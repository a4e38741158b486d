"""Asks the real program everything in `probes.py` and compares whole answers: status, fields, body bytes.

By itself: python probe_table.py [words that the rows must have]. The program is the one that APNS_EMULATOR_BINARY
names, else the debug build."""

import http.client
import os
import re
import ssl
import sys
from dataclasses import dataclass

HERE = os.path.dirname(os.path.abspath(__file__))
if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(HERE))
    os.environ.setdefault("APNS_EMULATOR_BINARY", os.path.join(HERE, "../../../.build/debug/apns-emulator"))

from lab import INCAPABLE  # noqa: E402
from probes import ALL, REASONS, GoAway, NoHandshake  # noqa: E402

# Starting flags of the emulators that the probes name.
FLAGS = {
    "plain": ["--without-broadcast", INCAPABLE], "flood": ["--flood-limit", "1"], "idle": ["--idle-timeout", "1s"],
    "documented": ["--documented-reasons"], "short-lived": ["--token-lifetime", "30m"], "going": [], "going too": [],
    "switched": ["--urgent-background", "--suffix-mismatch", "InvalidPushType"]}
results = []
# What refusals have besides Apple's answer.
OWN_FIELD = "apns-emulator-explanation"


@dataclass
class Result:
    probe: object
    got: object
    console: str  # the same over the console's plain HTTP/1.1: "same", "" if not asked, else what came

    @property
    def is_right(self):
        return matches(self.probe.expected, self.got) and self.console in ("", "same")


@dataclass
class Got:
    """An answer as it came."""

    status: int
    fields: dict
    body: bytes
    count: int  # fields, with repetitions

    def __str__(self):
        reason = re.search(rb'"reason":"(\w+)"', self.body)
        return f"{self.status} {reason[1].decode() if reason else ''}".strip()


def matches(expected, got):
    if isinstance(expected, GoAway):
        return got == expected
    if isinstance(expected, NoHandshake):
        return isinstance(got, NoHandshake)
    return (
        isinstance(got, Got) and got.status == expected.status
        and got.count == len(got.fields) and got.fields.keys() == expected.fields.keys()
        and all(re.fullmatch(pattern, got.fields[name]) for name, pattern in expected.fields.items())
        and (got.body == expected.body or bool(expected.body) and re.fullmatch(expected.body, got.body) is not None))


def run(lab, probe):
    """Asks; adds the row to the table and answers it."""
    result = Result(probe, over_http2(lab, probe), over_http1(lab, probe) if probe.is_plain_push else "")
    results.append(result)
    return result


def over_http2(lab, probe):
    if probe.prepare:
        probe.prepare(lab)
    options = dict(probe.connection)
    if probe.certificate:
        options["certificate"] = probe.certificate(lab)
    try:
        with lab.connect(**options) as connection:
            return ask(lab, probe, connection)
    except ssl.SSLError:
        return NoHandshake()


def ask(lab, probe, connection):
    connection.wait_for_settings()
    for earlier in probe.before:
        request = earlier(lab)
        connection.answer(connection.request(request.fields, request.body))
    if probe.meanwhile:
        probe.meanwhile(lab)
    if isinstance(probe.expected, GoAway):
        connection.read_to_end()
        return GoAway(*connection.goaway) if connection.goaway else None
    request = probe.request(lab)
    stream = connection.request(request.fields, request.body)
    answer = connection.answer(stream)
    if answer.status is None:
        return None
    fields = [field for field in answer.fields[1:] if field[0] != OWN_FIELD]
    return Got(answer.status, dict(fields), answer.body, len(fields))


def over_http1(lab, probe):
    """The console's answer to the same request; it must be the one over HTTP/2."""
    request = probe.request(lab)
    pseudo = {name: value for name, value in request.fields if name[0] == ":"}
    if not pseudo[":path"].startswith("/3/"):
        return ""
    connection = http.client.HTTPConnection(*lab.emulator.address("console"), timeout=30)
    connection.putrequest(pseudo[":method"], pseudo[":path"])
    for name, value in request.fields:
        if name[0] != ":":
            connection.putheader(name, value)
    connection.putheader("content-length", str(len(request.body)))
    connection.endheaders(request.body)
    response = connection.getresponse()
    fields = {name.lower(): value for name, value in response.getheaders()}
    asked = {name: fields[name] for name in fields if name in probe.expected.fields
             or name.startswith("apns-") and name != OWN_FIELD}
    got = Got(response.status, asked, response.read(), len(asked))
    connection.close()
    return "same" if matches(probe.expected, got) else str(got)


def lines(results):
    """The table, and a line that sums it."""
    width = max(len(result.probe.name) for result in results) + 2
    yield f"{'section':24}{'probe':{width}}{'expected':36}{'over HTTP/2':36}console"
    for result in results:
        expected, got = str(result.probe.expected), str(result.got)
        verdict = "right" if result.is_right else "WRONG"
        asked = f"{result.probe.section:24}{result.probe.name:{width}}"
        yield f"{asked}{clip(expected)}{clip(got)}{result.console:8}{verdict}"
        if not result.is_right:
            yield f"{'':14}expected {result.probe.expected!r}"
            yield f"{'':14}got      {result.got!r}"
    right = sum(result.is_right for result in results)
    yield f"{right} of {len(results)} rows right"
    for table, wanted in reasons().items():
        missing = [reason for reason in wanted if reason not in reached(results)]
        yield f"{table}: reasons reached {len(wanted) - len(missing)} of {len(wanted)}" + "".join(
            f"{', ' if index else ', not '}{word}" for index, (_, word) in enumerate(missing))


def reasons():
    """For each table of the documentation: all its reasons, as pairs with the table's name."""
    return {
        table: [(table, word) for words in by_status.values() for word in words.split()]
        for table, by_status in REASONS.items()}


def reached(results):
    """The reasons that right rows show, each with the status that its table says or in a GOAWAY."""
    return {
        result.probe.reason for result in results
        if result.is_right and result.probe.reason and (
            isinstance(result.probe.expected, GoAway) or is_of_status(*result.probe.reason,
                result.probe.expected.status))}


def is_of_status(table, word, status):
    return word in REASONS[table].get(status, "").split()


def clip(text):
    return f"{text[:34]:36}"


def main(words):
    import shutil
    import tempfile

    from harness import Emulator
    from lab import Lab, prepare

    chosen = [probe for probe in ALL if all(word in f"{probe.section} {probe.name}" for word in words)]
    with tempfile.TemporaryDirectory() as folder:
        labs = {}
        first = Emulator(folder)
        prepare(first)
        try:
            for name in {probe.lab for probe in chosen}:
                os.mkdir(first.path(name))
                shutil.copytree(first.path("certs"), first.path(name, "certs"))
                labs[name] = Lab(Emulator(first.path(name))).start(*FLAGS[name])
                labs[name].prepare_for_probes(name == "plain")
            for probe in chosen:
                run(labs[probe.lab], probe)
        finally:
            for lab in labs.values():
                lab.emulator.stop()
    print("\n".join(lines(results)))
    return 0 if all(result.is_right for result in results) else 1


if __name__ == "__main__":
    # Under the name by which the tests import it, so that there is one table.
    import probe_table

    sys.exit(probe_table.main(sys.argv[1:]))
