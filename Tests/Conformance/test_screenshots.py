"""Every pane of the dashboard as pictures, for a person's eye: DASHBOARD_SHOTS=FOLDER; skipped without it."""

import os

import pytest

from harness import TOPIC, SimulatedDevice

FOLDER = os.environ.get("DASHBOARD_SHOTS")
CHAT = "com.example.chat"
PANES = ("tokens", "devices", "send", "explain", "advice", "feedback", "channels", "connections", "faults", "clock")


def populate(emulator):
    """Some of everything; answers the id of the notification to look at."""
    def install(udid, topic=TOPIC):
        return emulator.api("POST", f"/api/v1/devices/{udid}/apps/{topic}/install")["token"]

    def push(token, payload, topic=TOPIC, **more):
        return emulator.api("POST", "/api/v1/push", {"token": token, "topic": topic, "payload": payload, **more})["id"]

    phone, tablet, chat = install("phone-1"), install("tablet"), install("phone-1", CHAT)
    device = SimulatedDevice(emulator, "phone-1")
    device.next("token")
    alert = {
        "title": "Flight LH 470", "subtitle": "Gate change",
        "body": "Boarding at gate B42 in 25 minutes. Please have your passport ready."}
    flight = {"number": "LH470", "gate": "B42", "seats": ["12A", "12B"], "delayed": False}
    push(phone, {"aps": {"alert": alert, "badge": 3, "sound": "default"}, "flight": flight}, collapseId="lh470")
    device.notification()
    push(tablet, {"aps": {"content-available": 1}}, pushType="background", priority=5)
    push(tablet, {"aps": {"alert": "Your order has shipped"}})
    push("ab" * 32, {"aps": {"alert": "To nobody"}})
    push(chat, {"aps": {"alert": "wrong topic"}}, topic=TOPIC)
    push(chat, {"aps": {"alert": "x" * 3000}}, topic=CHAT, protocol="legacy", command=1, identifier=8)
    emulator.api("POST", "/api/v1/import", {"version": 1, "devices": [
        {"udid": "old-phone", "apps": [{"topic": TOPIC, "state": "gone"}, {"topic": CHAT, "token": "5a" * 32}]}],
        "channels": [{"topic": TOPIC, "id": "AAECAwQFBgcICQoLDA0ODw==", "storesNewest": True}]})
    emulator.api("POST", f"/api/v1/devices/tablet/apps/{TOPIC}/reinstall")
    legacy = push(phone, {"aps": {"alert": {"title": "Storm", "body": "Tonight, from the west"}}}, protocol="legacy",
                  command=2, identifier=77, expiration=1900000000)
    device.notification()
    return legacy, phone, device


@pytest.mark.skipif(not FOLDER, reason="asked for with DASHBOARD_SHOTS")
@pytest.mark.parametrize("scheme, width", [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_pictures(chromium, emulator, scheme, width):
    os.makedirs(FOLDER, exist_ok=True)
    page = chromium
    page.resize(width, 820 if width > 400 else 844, is_mobile=width < 400)
    page.prefer(scheme)

    def shot(name):
        page.script("new Promise(done => requestAnimationFrame(() => setTimeout(done, 150)))")
        page.screenshot(os.path.join(FOLDER, f"{width}-{scheme}-{name}.png"))

    page.open("http://%s:%s/" % emulator.address("console"))
    page.until("document.getElementById('live').textContent === 'live'")
    page.shows("No notification yet")
    shot("empty-list")
    for pane in PANES:
        page.script(f"location.hash = '#{pane}'")
        page.until(f"document.querySelector('nav [aria-current]').hash === '#{pane}'")
        page.until("!document.body.innerText.includes('Loading')")
        if pane in ("tokens", "devices", "advice", "feedback", "channels", "faults"):
            shot(f"empty-{pane}")
    shown, token, device = populate(emulator)
    page.script("location.hash = ''")
    page.shows("To nobody")
    shot("list")
    page.script(f"location.hash = '#notifications/{shown}'")
    page.shows("Edit and replay")
    for tab in ("Preview", "Payload", "Headers", "Raw", "Verdict", "Timeline"):
        page.click(tab, "[role=tab]")
        page.until("!document.getElementById('panel').innerText.includes('Loading')")
        shot(f"detail-{tab.lower()}")
    page.script("location.hash = '#notifications/4'")
    page.until("document.getElementById('detail').innerText.includes('To nobody')")
    page.click("Verdict", "[role=tab]")
    shot("detail-rejected")
    for pane in PANES:
        page.script(f"location.hash = '#{pane}'")
        page.until(f"document.querySelector('nav [aria-current]').hash === '#{pane}'")
        page.until("!document.body.innerText.includes('Loading')")
        shot(pane)
    page.script(f"location.hash = '#tokens/{token}'")
    page.shows("HMAC-SHA256")
    shot("token-detail")
    page.click("Reinstall", "section.card button")
    page.until("document.querySelectorAll('.field.changed').length === 1")
    shot("token-reinstalled")
    page.script(f"location.hash = '#present/{token}'")
    page.until("document.querySelectorAll('.digits').length === 2")
    shot("present")
    assert page.script("document.documentElement.scrollWidth <= innerWidth")
    device.stop()
    page.open("about:blank")
