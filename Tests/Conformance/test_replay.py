"""Recording and replaying: what other people's providers sent is sent again, and the same comes of it."""

import base64
import datetime
import http.server
import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from harness import BINARY, TIMEOUT, TOPIC
from legacy import Provider, enhanced, framed, simple

HERE = os.path.dirname(__file__)
TEAM, KEY = "TEAM123456", "KEY1234567"
SEED = ("--ephemeral", "--token-seed", "replay")
UNKNOWN = "ab" * 32


@pytest.fixture
def recorder(stopped_emulator):
    """An emulator that records, with a key and a phone."""
    emulator = stopped_emulator
    emulator.run("certs", "key", "--team", TEAM, "--key-id", KEY)
    emulator.capture = emulator.path("traffic.jsonl")
    start(emulator, "--capture", emulator.capture)
    return emulator


def start(emulator, *flags):
    emulator.start(*SEED, *flags)
    for number in (1, 2, 3):
        emulator.api("POST", f"/api/v1/devices/phone-{number}/apps/{TOPIC}/install", {})
    tokens = emulator.api("GET", "/api/v1/tokens")["tokens"]
    emulator.tokens = [row["token"] for row in sorted(tokens, key=lambda row: row["udid"])]


@pytest.fixture
def again(recorder):
    """The same emulator in the state that it had at first, not recording: its seed makes the same tokens."""
    def restart():
        assert recorder.stop() == 0
        start(recorder)
        return recorder
    return restart


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def pushes(path):
    return [line for line in lines(path) if {"frame", "frames", "request"} & line.keys()]


def frames(line):
    """Those of a line: one, or `count` of command 1 that lie one behind the other."""
    if "frame" in line:
        return [base64.b64decode(line["frame"])]
    shared, found = base64.b64decode(line["frames"]), []
    while shared:
        # Command, identifier, expiration, length of the token, token, length of the payload, payload.
        token = int.from_bytes(shared[9:11], "big")
        end = 13 + token + int.from_bytes(shared[11 + token:13 + token], "big")
        found.append(shared[:end])
        shared = shared[end:]
    assert len(found) == line["count"]
    return found


def replay(emulator, *arguments, check=True):
    result = emulator.run("replay", *arguments, "--json", check=False)
    if check:
        assert result.returncode == 0, result.stdout + result.stderr
    report = [json.loads(line) for line in result.stdout.splitlines()]
    return report[-1], report[:-1]


def php(emulator, script, *arguments):
    bundle = emulator.path("ck.pem")
    with open(bundle, "w") as output:
        for part in emulator.push_certificate():
            with open(part) as file:
                output.write(file.read())
    host, port = emulator.address("gateway")
    result = subprocess.run(
        ["php", "-n", os.path.join(HERE, "clients", script), host, str(port), bundle, emulator.ca, *arguments],
        capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0 and not result.stderr, result.stdout + result.stderr
    return result.stdout.splitlines()


def aioapns(emulator, tokens):
    task = {
        "key": emulator.path("certs", "keys", f"AuthKey_{KEY}.p8"), "keyId": KEY, "team": TEAM, "topic": TOPIC,
        "tokens": tokens, "port": emulator.address("provider")[1]}
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    result = subprocess.run(
        [sys.executable, os.path.join(HERE, "provider", "clients", "aioapns_push.py")], input=json.dumps(task),
        env=environment | {"SSL_CERT_FILE": emulator.ca}, capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def legacy_session(emulator):
    """A PHP sender with good and bad tokens, by commands 0 and 1."""
    good = emulator.tokens
    php(emulator, "simple_push.php", good[0], "one at a time")
    php(emulator, "simple_push.php", UNKNOWN, "to nobody")
    assert php(emulator, "enhanced_push.php", "to all", *good) == ["no error"]
    assert php(emulator, "enhanced_push.php", "some", good[0], good[1], UNKNOWN) == [
        "error command=8 status=8 identifier=2"]


def mixed_session(emulator):
    legacy_session(emulator)
    with Provider(emulator, *emulator.push_certificate()) as provider:
        provider.send(framed(7, bytes.fromhex(emulator.tokens[1]), b'{"aps":{"alert":"2"}}'))
        # An item that overruns its frame.
        provider.send(bytes.fromhex("02 00000004 01 0020 00"))
        assert provider.read_to_end() == bytes.fromhex("088000000000")
    assert aioapns(emulator, emulator.tokens + [UNKNOWN, emulator.tokens[0]]) == {"200": 4, "BadDeviceToken": 1}
    emulator.run("send", "--topic", TOPIC, "--token", "00", check=False)


MIXED = {
    "200 → 200": 4, "400 BadDeviceToken → 400 BadDeviceToken": 2, "closed → closed": 1, "status 8 → status 8": 1,
    "status 128 → status 128": 1, "accepted → accepted": 7}


def test_a_mixed_session_replayed_comes_out_the_same(recorder, again):
    mixed_session(recorder)
    emulator = again()
    report, differences = replay(emulator, recorder.capture, "--speed", "max")
    assert differences == []
    assert (report["pushes"], report["same"], report["outcomes"]) == (16, 16, MIXED)
    assert replay(emulator, recorder.capture, "--speed", "20")[0]["same"] == 16


def test_what_a_php_sender_sent_comes_out_the_same_over_http2(recorder, again):
    legacy_session(recorder)
    emulator = again()
    report, differences = replay(emulator, recorder.capture, "--speed", "max", "--as", "http2")
    assert differences == []
    assert (report["pushes"], report["same"], report["untranslatable"]) == (8, 8, 0)
    assert report["outcomes"] == {
        "accepted → 200": 6, "closed → 400 BadDeviceToken": 1, "status 8 → 400 BadDeviceToken": 1}
    notifications = emulator.api("GET", "/api/v1/notifications")["notifications"]
    assert {n["interface"] for n in notifications} == {"provider"}
    assert {(n["topic"], n["pushType"]) for n in notifications if n["verdict"]["accepted"]} == {(TOPIC, "alert")}
    # The same with a provider token.
    key = emulator.path("certs", "keys", f"AuthKey_{KEY}.p8")
    report, differences = replay(emulator, recorder.capture, "--speed", "max", "--as", "http2", "--key", key)
    assert (report["same"], differences) == (8, [])


def test_a_difference_is_told_with_its_line(recorder, again):
    with Provider(recorder, *recorder.push_certificate()) as provider:
        token = bytes.fromhex(recorder.tokens[0])
        provider.send(b"".join(enhanced(n, token, b"{}") for n in (5, 6)))
        provider.send(enhanced(7, bytes.fromhex(recorder.tokens[1]), b"{}"))
        provider.send(simple(token, b"{}") + simple(bytes.fromhex(recorder.tokens[2]), b"{}"))
        provider.flush()
    emulator = again()
    report, differences = replay(
        emulator, recorder.capture, "--speed", "max", "--map-token", f"{recorder.tokens[1]}={UNKNOWN}",
        "--map-token", f"{recorder.tokens[2]}={'cd' * 32}", check=False)
    numbers = [number for number, line in enumerate(lines(recorder.capture), 1) if "frame" in line]
    assert [(d["line"], d["id"], d["old"], d["new"]) for d in differences] == [
        (numbers[2], "7", "accepted", "status 8"), (numbers[4], None, "accepted", "closed")]
    assert (report["pushes"], report["same"], report["different"]) == (6, 4, 2)
    assert emulator.run("replay", recorder.capture, "--speed", "max", check=False).returncode == 0
    mapped = ("replay", recorder.capture, "--speed", "max", "--map-token", f"{recorder.tokens[1]}={UNKNOWN}")
    assert emulator.run(*mapped, check=False).returncode == 1
    assert emulator.run(*mapped, "--allow-differences", check=False).returncode == 0


def test_only_so_many_differences_are_told_one_by_one(recorder, again):
    """All are counted; --differences says how many are told."""
    with Provider(recorder, *recorder.push_certificate()) as provider:
        token = bytes.fromhex(recorder.tokens[0])
        provider.send(b"".join(framed(n, token, b"{}") for n in range(1, 121)))
        provider.flush()
    emulator = again()
    mapped = (recorder.capture, "--speed", "max", "--as", "http2", "--map-token", f"{recorder.tokens[0]}={UNKNOWN}")
    for flags, told in [((), 100), (("--differences", "3"), 3), (("--differences", "0"), 0), (("--differences", "all"), 120)]:
        report, differences = replay(emulator, *mapped, *flags, check=False)
        assert (len(differences), report["untold"], report["different"]) == (told, 120 - told, 120)
    text = emulator.run("replay", *mapped, "--differences", "3", check=False).stdout.splitlines()
    assert len([line for line in text if "→" in line and "  id " in line]) == 3
    assert text[3] == "and 117 more; --differences all reports each"
    assert "120 different" in text[4]
    assert emulator.run("replay", *mapped, "--differences", "some", check=False).returncode == 2


def test_topics_and_tokens_may_become_others(recorder, again):
    legacy_session(recorder)
    aioapns(recorder, recorder.tokens)
    emulator = again()
    other = "com.example.other"
    emulator.push_certificate(other)
    mapping = {"topics": {TOPIC: other}, "tokens": {}}
    for number, token in enumerate(recorder.tokens, 1):
        emulator.api("POST", f"/api/v1/devices/phone-{number}/apps/{other}/install", {})
        [row] = emulator.api("GET", f"/api/v1/tokens?topic={other}&udid=phone-{number}")["tokens"]
        mapping["tokens"][token] = row["token"]
    path = emulator.path("map.json")
    with open(path, "w") as file:
        json.dump(mapping, file)
    report, differences = replay(emulator, recorder.capture, "--speed", "max", "--map", path)
    assert (report["same"], differences) == (11, [])
    topics = {n["topic"] for n in emulator.api("GET", "/api/v1/notifications")["notifications"]}
    assert topics == {other}


def test_a_capture_has_everything_but_secrets(recorder):
    mixed_session(recorder)
    recorder.stop()
    assert stat.S_IMODE(os.stat(recorder.capture).st_mode) == 0o600
    header, *rest = lines(recorder.capture)
    assert (header["format"], header["version"]) == ("apns-emulator-capture", 2)
    times = [line["ns"] for line in rest]
    assert times == sorted(times)
    frames = [base64.b64decode(line["frame"]) for line in rest if "frame" in line]
    payload = json.dumps({"aps": {"alert": "one at a time", "sound": "default"}}, separators=(",", ":")).encode()
    assert frames[0] == simple(bytes.fromhex(recorder.tokens[0]), payload)
    assert frames[-1] == bytes.fromhex("020000000401002000")
    requests = [line["request"] for line in rest if "request" in line]
    digests = {value for request in requests for name, value in request["headers"] if name == "authorization"}
    assert len(digests) == 1 and next(iter(digests)).startswith("digest:")
    with open(recorder.capture, "rb") as file:
        text = file.read()
    # How provider tokens begin, header and claims, whatever comes first in them; and ids of key and team in any form.
    beginnings = [base64.b64encode(b'{"' + name + b'":')[:8] for name in (b"alg", b"typ", b"kid", b"iss", b"iat")]
    ids = [KEY.encode(), TEAM.encode()]
    for secret in [b"earer", *beginnings, *ids, *(base64.b64encode(word)[:12] for word in ids)]:
        assert secret not in text, secret


def test_the_http_part_is_an_archive_that_others_read(recorder):
    mixed_session(recorder)
    recorder.stop()
    archive = json.loads(recorder.run("har", recorder.capture).stdout)["log"]
    requests = [line["request"] for line in lines(recorder.capture) if "request" in line]
    assert archive["version"] == "1.2" and len(archive["entries"]) == len(requests) == 6
    first = archive["entries"][0]
    assert first["request"]["method"] == "POST" and first["request"]["url"].endswith(requests[0]["path"])
    assert json.loads(first["request"]["postData"]["text"])["aps"]["alert"] == "0"
    assert sorted(entry["response"]["status"] for entry in archive["entries"]) == [200] * 4 + [400] * 2
    started = datetime.datetime.fromisoformat(first["startedDateTime"].replace("Z", "+00:00"))
    assert abs((datetime.datetime.now(datetime.timezone.utc) - started).total_seconds()) < TIMEOUT * 10


def test_a_torn_last_line_is_left_out_and_cut_off(recorder, again):
    legacy_session(recorder)
    count = 8
    eventually(lambda: len(pushes(recorder.capture)) == count)
    recorder.kill()
    with open(recorder.capture, "ab") as file:
        file.write(b'{"ns":123,"connection":1,"fra')
    start(recorder)
    result = recorder.run("replay", recorder.capture, "--speed", "max")
    assert "the last line is incomplete" in result.stderr and f"{count} pushes" in result.stdout
    # The next run appends behind the last whole line, and the two are replayed one after the other.
    recorder.stop()
    start(recorder, "--capture", recorder.capture)
    php(recorder, "simple_push.php", recorder.tokens[0], "later")
    # The sender has gone without an answer: that its push was read is to be waited for.
    eventually(lambda: metric(recorder, "apns_emulator_notifications_received_total") == 1)
    recorder.stop()
    assert len(pushes(recorder.capture)) == count + 1
    start(recorder)
    report, differences = replay(recorder, recorder.capture, "--speed", "max")
    assert (report["same"], differences) == (count + 1, [])


def send_in_parts(emulator, provider, count):
    """Hundreds of pushes, each of them more than 4 KiB of capture and in the file before the next: a file is rotated between two writes."""
    written = 0
    for number in range(count):
        provider.send(enhanced(number, bytes.fromhex(emulator.tokens[0]), b"{}"))
        if number % 100 == 99:
            eventually(lambda: metric(emulator, "apns_emulator_capture_bytes_total") >= written + 4096)
            written = metric(emulator, "apns_emulator_capture_bytes_total")


def test_rotated_files_stand_for_themselves(stopped_emulator):
    emulator = stopped_emulator
    capture = emulator.path("small.jsonl")
    start(emulator, "--capture", capture, "--capture-rotate", "4K", "--capture-keep", "50")
    with Provider(emulator, *emulator.push_certificate()) as provider:
        send_in_parts(emulator, provider, 800)
        assert provider.flush()[:2] == b"\x08\x02"
    emulator.stop()
    files = [path for n in range(50, 0, -1) if os.path.exists(path := f"{capture}.{n}")] + [capture]
    assert len(files) > 3
    for path in files:
        assert lines(path)[0]["format"] == "apns-emulator-capture"
    start(emulator)
    report, differences = replay(emulator, *files, "--speed", "max")
    assert (report["same"], differences) == (801, [])
    replay(emulator, files[1], "--speed", "max")


def test_a_capture_behind_a_link_rotates_where_the_link_points(stopped_emulator):
    emulator = stopped_emulator
    os.mkdir(emulator.path("disk"))
    link, target = emulator.path("link.jsonl"), emulator.path("disk", "small.jsonl")
    os.symlink("disk/small.jsonl", link)
    start(emulator, "--capture", link, "--capture-rotate", "4K", "--capture-keep", "2")
    with Provider(emulator, *emulator.push_certificate()) as provider:
        send_in_parts(emulator, provider, 400)
        assert provider.flush()[:2] == b"\x08\x02"
    emulator.stop()
    assert os.path.islink(link) and not os.path.islink(target)
    assert sorted(os.listdir(emulator.path("disk"))) == ["small.jsonl", "small.jsonl.1", "small.jsonl.2"]
    assert not [name for name in os.listdir(emulator.folder) if name.startswith("link.jsonl.")]


@pytest.mark.parametrize("content, complaint", [
    ("", "line 1: expected a header"),
    ("hello\n", 'line 1: expected a header with "format":"apns-emulator-capture", got hello'),
    ('{"format":"apns-emulator-capture","version":3}\n', 'expected "version":2, got version 3'),
    ('{"format":"apns-emulator-capture","version":1}\n{"ns":1,"connection":1,"frame":"A"}\n', "line 2: expected base64"),
    ('{"format":"apns-emulator-capture","version":1}\n{"ns":1,"connection":9,"frame":"AAAA"}\n', "line 2: expected a push of"),
])
def test_a_bad_file_is_told_where_and_what(emulator, content, complaint):
    path = emulator.path("bad.jsonl")
    with open(path, "w") as file:
        file.write(content)
    result = emulator.run("replay", path, check=False)
    assert result.returncode == 1
    assert complaint in result.stderr and path in result.stderr
    assert result.stdout == "", "nothing was replayed, so nothing is reported"
    assert emulator.run("replay", path, "--json", check=False).stdout == ""


def test_what_went_before_a_bad_line_is_not_told_as_a_success(recorder, again):
    legacy_session(recorder)
    emulator = again()
    with open(recorder.capture, "a") as file:
        file.write("hello\n")
    result = emulator.run("replay", recorder.capture, "--speed", "max", check=False)
    assert result.returncode == 1 and "expected" in result.stderr
    assert " the same" not in result.stdout
    for line in emulator.run("replay", recorder.capture, "--speed", "max", "--json", check=False).stdout.splitlines():
        assert "pushes" not in json.loads(line)


@pytest.mark.parametrize("source", ["file", "standard input"])
def test_a_replay_into_the_emulator_that_records_the_same_file_ends(recorder, source):
    """What it adds itself is behind the end that the file had when the replay began."""
    legacy_session(recorder)
    # What standard input is, nobody knows.
    if source == "standard input":
        eventually(lambda: len(pushes(recorder.capture)) == 8)
    with open(recorder.capture) as file:
        result = subprocess.run(
            [BINARY, "replay", recorder.capture if source == "file" else "-", "--speed", "max", "--json"],
            cwd=recorder.folder, env=recorder.environment, stdin=file, capture_output=True, text=True, timeout=TIMEOUT)
    report = json.loads(result.stdout.splitlines()[-1])
    assert (result.returncode, report["pushes"], report["same"]) == (0, 8, 8), result.stderr
    # Again, and what the first has added is there now.
    assert replay(recorder, recorder.capture, "--speed", "max", check=False)[0]["pushes"] > 8


def test_a_file_that_another_one_is_replayed_into_ends_where_it_did_at_the_start(recorder):
    legacy_session(recorder)
    eventually(lambda: len(pushes(recorder.capture)) == 8)
    copy = recorder.path("copy.jsonl")
    with open(recorder.capture) as file, open(copy, "w") as output:
        output.write(file.read())
    assert replay(recorder, copy, recorder.capture, "--speed", "max", check=False)[0]["pushes"] == 16


class Behind(http.server.BaseHTTPRequestHandler):
    """The console of an emulator that has recorded what its file does not have yet: the file gets it when it was asked for the third time."""

    def do_GET(self):
        server = self.server
        server.asked += 1
        if server.asked == 3:
            with open(server.capture, "ab") as file:
                file.write(server.rest)
        body = json.dumps({"capture": {
            "file": server.capture, "recorded": 8, "written": 8 if server.asked >= 3 else 6}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def behind(recorder, again):
    """Such a console in front of an emulator, whose name a link has."""
    legacy_session(recorder)
    emulator = again()
    with open(recorder.capture, "rb") as file:
        content = file.read()
    # Six of eight pushes.
    shown = [line.end() for line in re.finditer(rb".*\n", content) if b'"frame"' in line[0]]
    cut = shown[5]
    with open(recorder.capture, "wb") as file:
        file.write(content[:cut])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Behind) as server:
        server.asked, server.capture, server.rest = 0, recorder.capture, content[cut:]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with open(emulator.ports_file) as file:
            ports = json.load(file)
        ports["console"]["port"] = server.server_port
        emulator.ports_file = emulator.path("ports-of-behind.json")
        with open(emulator.ports_file, "w") as file:
            json.dump(ports, file)
        yield server
        server.shutdown()


@pytest.mark.parametrize("command", ["replay", "har"])
def test_what_was_recorded_and_is_not_in_the_file_yet_is_waited_for(recorder, behind, command):
    link = recorder.path("link.jsonl")
    os.symlink(recorder.capture, link)
    if command == "replay":
        assert replay(recorder, link, "--speed", "max")[0]["pushes"] == 8
    else:
        recorder.run("har", link)
    assert behind.asked == 3


def test_no_other_file_is_waited_for(recorder, behind):
    other = recorder.path("other.jsonl")
    shutil.copy(recorder.capture, other)
    assert replay(recorder, other, "--speed", "max")[0]["pushes"] == 6
    assert behind.asked == 1


def test_the_console_says_how_far_a_capture_is_written(recorder, again):
    legacy_session(recorder)
    progress = lambda: recorder.api("GET", "/api/v1/info")["capture"]
    assert progress()["recorded"] == 8
    eventually(lambda: progress()["written"] == 8)
    assert len(pushes(recorder.capture)) == 8 and progress()["file"] == os.path.realpath(recorder.capture)
    assert again().api("GET", "/api/v1/info")["capture"] is None


def test_the_console_says_where_files_are_from_everywhere(stopped_emulator):
    emulator = stopped_emulator
    emulator.start("--ephemeral", "--capture", "traffic.jsonl")
    info = emulator.api("GET", "/api/v1/info")
    assert info["capture"]["file"] == os.path.realpath(emulator.path("traffic.jsonl"))


def test_a_path_that_can_not_be_written_is_told_at_the_start(stopped_emulator):
    result = stopped_emulator.run("serve", "--capture", "/nonexistent/traffic.jsonl", *SEED, check=False)
    assert result.returncode == 1
    assert "/nonexistent/traffic.jsonl" in result.stderr


def test_nothing_is_lost_when_the_history_is_short_and_the_burst_is_long(stopped_emulator):
    emulator = stopped_emulator
    capture = emulator.path("burst.jsonl")
    start(emulator, "--capture", capture, "--history", "3", "--log-level", "warning")
    count = 20000
    with Provider(emulator, *emulator.push_certificate()) as provider:
        token = bytes.fromhex(emulator.tokens[0])
        provider.send(b"".join(enhanced(number, token, b"{}") for number in range(count)))
        assert provider.flush()[:2] == b"\x08\x02"
    emulator.stop()
    recorded = [frame for line in pushes(capture) for frame in frames(line)]
    assert [int.from_bytes(frame[1:5], "big") for frame in recorded[:-1]] == list(range(count))


def metric(emulator, name):
    host, port = emulator.address("console")
    with urllib.request.urlopen(f"http://{host}:{port}/metrics", timeout=TIMEOUT) as response:
        [line] = [line for line in response.read().decode().splitlines() if line.startswith(name + " ")]
    return float(line.split()[1])


def eventually(condition):
    deadline = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_burst_shares_lines_and_each_frame_of_it_is_found_again(recorder, again):
    token, count = bytes.fromhex(recorder.tokens[0]), 5000
    with Provider(recorder, *recorder.push_certificate()) as provider:
        provider.send(b"".join(enhanced(number, token, b"{}") for number in range(count)))
        assert provider.flush()[:2] == b"\x08\x02"
    emulator = again()
    shared = [line for line in pushes(recorder.capture) if "frames" in line]
    assert len(shared) > 0
    every = [(number, place, frame) for number, line in enumerate(lines(recorder.capture), 1)
             if {"frame", "frames"} & line.keys() for place, frame in enumerate(frames(line))]
    assert [int.from_bytes(frame[1:5], "big") for _, _, frame in every[:-1]] == list(range(count))
    # Another device's token in the middle of a shared line, which nobody knows.
    report, differences = replay(emulator, recorder.capture, "--speed", "max")
    assert (report["same"], differences) == (count + 1, [])
    report, differences = replay(
        emulator, recorder.capture, "--as", "http2", "--speed", "max", "--map-token",
        f"{recorder.tokens[0]}={UNKNOWN}", check=False)
    assert report["different"] == count
    places = {int.from_bytes(frame[1:5], "big"): (line, place) for line, place, frame in every[:-1]}
    told = [difference for difference in differences if "place" in difference]
    assert len(told) >= 100
    assert [(d["line"], d["place"]) for d in told] == [places[int(d["id"])] for d in told]


def test_a_full_disk_is_told_and_survived(stopped_emulator):
    emulator = stopped_emulator
    capture = emulator.path("full.jsonl")
    start(emulator, "--capture", capture, "--log-level", "warning")
    frame = enhanced(1, bytes.fromhex(emulator.tokens[0]), b"{}")
    pid, limits = emulator.process.pid, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    with Provider(emulator, *emulator.push_certificate()) as provider:
        # No file may grow past 100 KB: as a disk that is full.
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
        provider.send(20000 * frame)
        eventually(lambda: metric(emulator, "apns_emulator_capture_lost_total") >= 2000)
        assert metric(emulator, "apns_emulator_capture_suspended") == 1
        emulator.told("capture suspended")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, limits)
        eventually(lambda: (provider.send(frame), metric(emulator, "apns_emulator_capture_suspended") == 0)[1])
    emulator.stop()
    recorded = lines(capture)
    assert sum(line.get("lost", 0) for line in recorded) >= 2000
    assert "frame" in recorded[-1] or "closed" in recorded[-1]
    start(emulator)
    assert replay(emulator, capture, "--speed", "max")[0]["lost"] >= 2000


def test_a_capture_that_comes_slowly_is_sent_as_it_comes_and_can_be_ended(recorder, again):
    legacy_session(recorder)
    emulator = again()
    with open(recorder.capture, "rb") as file:
        content = file.read()
    # Without the end of the connection: there is more to come.
    part = b"".join(line for line in content.splitlines(keepends=True) if b'"closed"' not in line)
    process = subprocess.Popen(
        [BINARY, "replay", "-", "--speed", "max", "--json"], cwd=emulator.folder, env=emulator.environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(part)
    process.stdin.flush()
    emulator.api("POST", "/api/v1/notifications/wait", {
        "match": {"interface": "gateway", "token": recorder.tokens[0]}, "count": 1, "timeoutMs": 10_000})
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(timeout=TIMEOUT) in (0, 1)
    finally:
        process.kill()
        process.stdin.close()
    assert "pushes" in json.loads(process.stdout.read().splitlines()[-1])
