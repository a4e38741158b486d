"""Draws the pictures of Documentation: the dashboard at an emulator that something has happened to, and the scenes of its phone.

    pictures.py [NAME …]        as `make pictures` calls it; names: the files without suffix, or `phone`

Tokens, clock and choices are always the same, so that pictures differ by little unless the dashboard does."""

import contextlib
import os
import sys
import tempfile

from browser import Browser
from clusters import Cluster
from harness import TOPIC, Emulator, SimulatedDevice, eventually
from legacy import Provider, enhanced
from phone_scenes import SCENES, scene
from wrong_provider import UNKNOWN, alert, lose, send

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Documentation", "images")
CHAT = "com.example.chat"
# The scenes of the phone that pages show, each with the look in which they do: width, height and color scheme.
SHOWN = {
    "lock": (1280, 860, "light"), "expanded": (390, 844, "light"), "call": (390, 844, "light"), "activity": (390, 844, "dark"),
}
# What is drawn once: any animation that has an end has come to it.
SETTLED = """document.fonts.ready.then(() => Promise.all(document.getAnimations()
    .filter(each => each.effect.getTiming().iterations === 1).map(each => each.finished.catch(() => 0)))).then(() => 0)"""


class Story:
    """Two phones, two apps, and pushes of every outcome."""

    def __init__(self, emulator):
        self.emulator = emulator
        self.api("PUT", "/api/v1/clock", {"set": "2026-09-09T09:41:00Z", "freeze": True})

    def api(self, method, path, body=None):
        return self.emulator.api(method, path, body)

    def push(self, token, payload, topic=TOPIC, **more):
        return self.api("POST", "/api/v1/push", {"token": token, "topic": topic, "payload": payload, **more})["id"]

    def tell(self):
        """Answers the notifications and the token to look at."""
        tablet = self.api("POST", f"/api/v1/devices/tablet/apps/{TOPIC}/install")["token"]
        chat = self.api("POST", f"/api/v1/devices/ada/apps/{CHAT}/install")["token"]
        ada = SimulatedDevice(self.emulator, "ada")
        token = ada.next("token")["token"]
        flight = self.push(
            token, {"aps": {"alert": {
                "title": "Flight LH 470", "subtitle": "Gate change", "body": "Boarding at gate B42 in 25 minutes."},
                "sound": "default", "badge": 1}, "gate": "B42"}, collapseId="lh470")
        ada.notification()
        kept = self.push(tablet, {"aps": {"alert": "Your order has been packed"}})
        self.push(tablet, {"aps": {"alert": "Your order has shipped"}})
        unknown = self.push("ab" * 32, {"aps": {"alert": "Anybody?"}})
        self.push(token, {"aps": {"content-available": 1}}, pushType="background", priority=5)
        ada.notification()
        self.api("POST", "/api/v1/faults", {
            "name": "weather", "match": {"interface": "console"}, "when": {"next": 2},
            "effect": {"reason": "ServiceUnavailable"}})
        for _ in range(2):
            self.push(chat, {"aps": {"alert": "Are you at home?"}}, topic=CHAT)
        self.api("POST", "/api/v1/faults", {
            "name": "flaky", "match": {"topic": CHAT}, "when": {"probability": 0.1}, "effect": {"reset": True}})
        storm = self.push(
            token, {"aps": {"alert": {"title": "Storm", "body": "Tonight, from the west"}}}, protocol="legacy", command=2,
            identifier=77)
        ada.notification()
        eventually(
            lambda: self.api("GET", f"/api/v1/notifications/{storm}")["state"] == "delivered", "the phone has it")
        ada.stop()
        return {"flight": flight, "kept": kept, "unknown": unknown, "storm": storm, "token": token}


def tell_wrong_provider(emulator, token):
    """Pushes that expire at once, a bad token again and again, and what is lost behind it: today, as only then its certificate is
    valid."""
    emulator.api("POST", "/api/v1/reset", {"what": ["clock", "advice"]})
    credential = emulator.push_certificate()
    with Provider(emulator, *credential) as provider:
        provider.send(b"".join(enhanced(number, bytes.fromhex(token), alert(number), expiry=0) for number in range(12)))
        provider.flush()
    for _ in range(3):
        send(emulator, [UNKNOWN], *credential)
    lose(emulator, token, 36, *credential)
    eventually(
        lambda: len(emulator.api("GET", "/api/v1/advice")["findings"]) >= 3, "it is told what the provider does wrong")


class Camera:
    def __init__(self, emulator, wanted):
        self.page = Browser()
        self.home = "http://%s:%s/" % emulator.address("console")
        self.wanted = wanted

    def __enter__(self):
        self.page.resize(1280, 820)
        self.page.prefer("light")
        self.page.open(self.home)
        self.page.until("document.getElementById('live').textContent === 'live'")
        return self

    def __exit__(self, *_):
        self.page.close()

    def take(self, name):
        self.page.until("!document.body.innerText.includes('Loading')")
        self.page.script(SETTLED)
        file = os.path.join(FOLDER, f"{name}.webp")
        os.makedirs(os.path.dirname(file), exist_ok=True)
        self.page.screenshot(file)
        print(os.path.relpath(file), os.path.getsize(file))

    def pane(self, name, place, shows, tab=None):
        """One pane of the dashboard, once it shows some words."""
        if self.wanted and name not in self.wanted:
            return
        self.page.script(f"location.hash = {place!r}")
        self.page.shows(shows)
        if tab:
            self.page.click(tab, "[role=tab]")
        self.take(name)

    def advice(self):
        """A finding that is open; the same on a phone, in the dark."""
        if self.wanted and "advice" not in self.wanted:
            return
        self.page.script("location.hash = '#advice/lost-after-error'")
        self.page.until("document.querySelector('details.advice[open]')")
        self.take("advice")
        self.page.resize(390, 844, is_mobile=True)
        self.page.prefer("dark")
        self.take("advice-dark")

    def phone(self):
        for name, (width, height, scheme) in SHOWN.items():
            assert name in SCENES
            self.page.open(self.home)
            self.page.resize(width, height, is_mobile=width < 400)
            self.page.prefer(scheme)
            scene(self.page, name)
            self.take(f"phone/{width}-{scheme}-{name}")


def main(wanted):
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as after:
        emulator = Emulator(folder).start("--ephemeral", "--token-seed", "pictures", "--seed", "1")
        after.callback(emulator.stop)
        told = Story(emulator).tell()
        with Camera(emulator, wanted) as camera:
            camera.pane("push", f"#notifications/{told['storm']}", "calls no method of the app until")
            camera.pane("verdict", f"#notifications/{told['unknown']}", "Edit and replay", "Verdict")
            camera.pane("timeline", f"#notifications/{told['kept']}", "Edit and replay", "Timeline")
            camera.pane("tokens", "#tokens", "tablet")
            camera.pane("derivation", f"#tokens/{told['token']}", "HMAC-SHA256")
            camera.pane("faults", "#faults", "weather")
            tell_wrong_provider(emulator, told["token"])
            camera.advice()
            if not wanted or "phone" in wanted:
                camera.phone()
        if not wanted or "cluster" in wanted:
            cluster(os.path.join(folder, "cluster"))


def cluster(folder):
    """Three nodes, one of them killed a moment ago."""
    nodes = Cluster(folder)
    try:
        first = nodes.whole().nodes[0]
        with Camera(first, ["cluster"]) as camera:
            camera.page.script("location.hash = '#cluster'")
            camera.page.until("document.querySelectorAll('.zone').length === 64")
            camera.page.script("document.querySelectorAll('.zone')[%s].click()" % nodes.zone_of("node-1"))
            first.api("POST", "/api/v1/cluster/nodes/node-3/kill")
            camera.page.shows("led by node-3 before")
            camera.page.until("document.querySelectorAll('.nowhere').length === 0")
            camera.take("cluster")
    finally:
        nodes.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
