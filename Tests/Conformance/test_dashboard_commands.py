"""Commands that the dashboard prints run as printed, and what can't be sent again says why."""

import os
import signal
import subprocess

import pytest

from harness import BINARY, FREE_PORTS, TIMEOUT, TOPIC, Emulator, eventually
from test_dashboard import install, open_detail, page, push, shot  # noqa: F401

CHANNEL = "AAECAwQFBgcICQoLDA0ODw=="


def make_channel(emulator):
    emulator.api("POST", "/api/v1/import", {"version": 1, "channels": [
        {"topic": TOPIC, "id": CHANNEL, "storesNewest": True}]})


def broadcast(emulator, payload, channel=CHANNEL):
    """As a provider sends it (`Documentation/provider-api.md#broadcast`); answers it as the console tells it."""
    certificate, key = emulator.push_certificate()
    fields = {"apns-channel-id": channel, "apns-push-type": "liveactivity", "apns-priority": "10",
              "apns-expiration": "1900000000"}
    subprocess.run(
        ["curl", "-sS", "--http2", "--cacert", emulator.ca, "--cert", certificate, "--key", key,
         *(part for name, value in fields.items() for part in ("-H", f"{name}: {value}")), "--data-raw", payload,
         f"https://localhost:{emulator.address('provider')[1]}/4/broadcasts/apps/{TOPIC}"],
        check=True, capture_output=True, timeout=TIMEOUT)
    return newest(emulator)


def newest(emulator):
    return emulator.api("GET", "/api/v1/notifications?order=newest&limit=1")["notifications"][0]


def shell(command, folder, **more):
    """Runs it where nothing is set up but the path to the program."""
    os.makedirs(folder, exist_ok=True)
    if not os.path.exists(os.path.join(folder, "apns-emulator")):
        os.symlink(BINARY, os.path.join(folder, "apns-emulator"))
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder)}
    return subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, **more)


def finished(process):
    output, _ = process.communicate(timeout=TIMEOUT)
    return process.returncode, output


def test_a_broadcast_is_copied_as_one(page, emulator):
    make_channel(emulator)
    install(emulator, udid="stranger")
    first = broadcast(emulator, '{"aps":{"event":"update","content-state":{"goals":1}},"it\'s":"ü"}')
    assert first["verdict"]["accepted"] and first["channelId"] == CHANNEL and first["token"] == ""
    open_detail(page, first)
    assert CHANNEL in page.script("document.getElementById('detail').innerText")
    command = page.script(f"api('GET', '/api/v1/notifications/{first['id']}').then(commandFor)")
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=TIMEOUT)
    assert result.returncode == 0 and "HTTP/2 200" in result.stdout, f"{command}\n{result.stdout}{result.stderr}"
    again = newest(emulator)
    assert again["id"] == first["id"] + 1 and again["verdict"]["accepted"]
    for name in ("payloadBase64", "topic", "channelId", "pushType", "priority", "expiration", "environment"):
        assert again[name] == first[name], name
    shot(page, "detail-broadcast")


def test_a_broadcast_is_not_replayed_to_a_device(page, emulator):
    make_channel(emulator)
    install(emulator, udid="stranger")
    first = broadcast(emulator, '{"aps":{}}')
    open_detail(page, first)
    for label in ("Replay", "Edit and replay"):
        assert page.script(f"""(found => found.disabled && document.getElementById(found.getAttribute('aria-describedby')).innerText
            .includes('A broadcast goes to a channel'))([...document.querySelectorAll('#detail button')]
            .find(each => each.innerText === '{label}'))""")
    page.script("document.getElementById('list').focus()")
    page.press("r")
    page.until("document.querySelector('#detail .problem:not([hidden])')?.innerText.includes('A broadcast goes to a channel')")
    # Nor is there a draft of it, which would want a phone's token.
    page.script(f"api('GET', '/api/v1/notifications/{first['id']}').then(editAndReplay).then(() => {{ window.isTried = true }})")
    page.until("window.isTried")
    assert page.script("location.hash") != "#send" and page.script("document.getElementById('push-token')") is None
    assert newest(emulator)["id"] == first["id"]


def test_what_can_not_be_sent_again_says_why(page, emulator):
    """Without a certificate for a broadcast, or a push without a token or topic."""
    make_channel(emulator)
    first = broadcast(emulator, '{"aps":{}}')
    for name in (".pem", ".key", ".p12"):
        os.unlink(emulator.path("certs", "push", TOPIC + name))
    page.script("loadInfo()")
    page.until("store.info.certificates.length === 0")
    open_detail(page, first)
    page.shows(f"there is no push certificate for {TOPIC}")
    assert page.script("[...document.querySelectorAll('#detail button')].filter(each => each.disabled).length") == 3
    host, port = emulator.address("console")
    subprocess.run(
        ["curl", "-sS", "-X", "POST", "-d", "{}", f"http://{host}:{port}/3/device/"], check=True, timeout=TIMEOUT,
        capture_output=True)
    open_detail(page, newest(emulator))
    page.shows("without a device token")


def commands(page):
    return page.script("[...document.querySelectorAll('.command pre')].map(each => each.textContent)")


@pytest.mark.parametrize("has_ports_file", [True, False])
def test_commands_of_empty_lists_run_as_printed(chromium, tmp_path, issued, has_ports_file):
    """From another folder and a bare environment, whether a ports file was asked for or not."""
    folder = tmp_path / "it's here"
    folder.mkdir()
    emulator = Emulator(folder)
    emulator.start()
    if not has_ports_file:
        console = emulator.address("console")[1]
        emulator.stop()
        emulator.process = subprocess.Popen(
            [BINARY, "serve", *[flag for flag in FREE_PORTS if "console" not in flag], f"--console-port={console}"],
            cwd=folder, env={"HOME": str(folder)}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        eventually(lambda: answers(emulator), "it answers")
    try:
        chromium.complaints.clear()
        chromium.open("http://%s:%s/" % emulator.address("console"))
        chromium.until("store.info && !store.loading && document.querySelector('.command')")
        for pane, number in (("notifications", 0), ("tokens", 0), ("devices", 0)):
            chromium.script(f"location.hash = '#{pane}'")
            chromium.until("document.querySelector('.command button')?.innerText === 'Copy'")
        chromium.script("location.hash = '#notifications'")
        chromium.until("document.querySelectorAll('.command').length === 2")
        to_push, to_receive = commands(chromium)
        assert (f"--ports-file {quoted(emulator.ports_file)}" in to_push) == has_ports_file
        status, output = finished(shell(to_push, tmp_path / "elsewhere"))
        assert status == 0, f"{to_push}\n{output}"
        chromium.until("[...store.notifications.values()].some(each => each.state === 'stored')")
        phone = shell(to_receive, tmp_path / "elsewhere", start_new_session=True)
        try:
            chromium.until("[...store.notifications.values()].some(each => each.state === 'delivered')")
        finally:
            # The shell has become the program, or is its parent.
            os.killpg(phone.pid, signal.SIGTERM)
            finished(phone)
    finally:
        chromium.open("about:blank")
        emulator.stop()


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def answers(emulator):
    try:
        return emulator.api("GET", "/livez")
    except OSError:
        return None
