"""A headless Chromium, driven over its DevTools protocol."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request

import websocket

from harness import TIMEOUT, eventually

# Makes what the page's modules export global: tests look at it and call it.
EXPOSE = """Promise.all(performance.getEntriesByType('resource').map(each => each.name)
    .filter(name => new URL(name).pathname.startsWith('/dashboard/') && name.endsWith('.js')).map(name => import(name)))
    .then(modules => {
        for (const module of modules) for (const name of Object.keys(module).filter(name => !Object.hasOwn(window, name)))
            Object.defineProperty(window, name, { get: () => module[name] });
    })"""
# What Chromium says where the document of a script is gone, or the next one has not begun.
GONE = ("Execution context was destroyed.", "Inspected target navigated or closed", "Cannot find default execution context")
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Away(Exception):
    """The document that a script was for has made way for another."""


class Page:
    """One tab."""

    def __init__(self, address):
        self.count = 0
        self.complaints = []
        self.socket = websocket.create_connection(address, timeout=TIMEOUT)
        for domain in ("Page", "Runtime", "Log"):
            self.command(f"{domain}.enable")

    def command(self, method, **parameters):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(message["params"])
            if message.get("id") == self.count:
                if message.get("error", {}).get("message") in GONE:
                    raise Away(message)
                assert "error" not in message, message
                return message["result"]

    def script(self, expression):
        """The value of an expression in the page, awaited."""
        result = self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, expression, timeout=TIMEOUT):
        """Waits until an expression is true, also in a document that comes meanwhile; answers how long that took, in seconds."""
        start = time.monotonic()
        while not self._holds(expression):
            assert time.monotonic() - start < timeout, f"never: {expression}\n{self.text()[:2000]}"
            time.sleep(0.02)
        return time.monotonic() - start

    def _holds(self, expression):
        try:
            return self.script(f"Boolean({expression})")
        except Away:
            return False

    def text(self):
        return self.script("document.body.innerText")

    def shows(self, words, timeout=TIMEOUT):
        return self.until(f"document.body.innerText.includes({json.dumps(words)})", timeout)

    def click(self, words, selector="button, a, [role=tab]"):
        self.script(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            f".find(each => each.innerText.trim() === {json.dumps(words)}).click()")

    def choose(self, selector, *paths):
        """Files for an input, as a person picks them."""
        found = self.command("Runtime.evaluate", expression=f"document.querySelector({json.dumps(selector)})")
        self.command("DOM.setFileInputFiles", files=[str(path) for path in paths], objectId=found["result"]["objectId"])

    def press(self, key):
        """A key, as a person types it."""
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self.command("Input.dispatchKeyEvent", type=kind, key=key, **typed)

    def open(self, url):
        result = self.command("Page.navigate", url=url)
        if "errorText" not in result:
            self._begin()
        return result

    def reload(self):
        """Answers once there is another document, so that nobody takes the old one for it."""
        self.script("window.isOld = true")
        self.command("Page.reload")
        self._begin("!window.isOld && ")

    def _begin(self, condition=""):
        self.until(f"{condition}document.readyState === 'complete'")
        self.script(EXPOSE)

    def back(self):
        """To the page before, as by the browser's button."""
        history = self.command("Page.getNavigationHistory")
        entry = history["entries"][history["currentIndex"] - 1]
        self.command("Page.navigateToHistoryEntry", entryId=entry["id"])

    def resize(self, width, height, is_mobile=False):
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=is_mobile)

    def prefer(self, scheme):
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        """As its suffix says: WebP is small where colours run into one another."""
        form = {"format": "webp", "quality": 72} if path.endswith(".webp") else {"format": "png"}
        data = self.command("Page.captureScreenshot", **form)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        """Closes the tab, as a person does."""
        self.command("Page.close")
        self.socket.close()


# A page of another emulator goes on in the process of the page before, which is kept nowhere: a process for each is a fifth of what a page
# costs.
ONE_PROCESS = ("--disable-features=BackForwardCache,ProactivelySwapBrowsingInstance,SpareRendererForSitePerProcess",
               "--disable-site-isolation-trials")


class Browser(Page):
    """A browser with its first tab."""

    def __init__(self, *flags):
        program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
        assert program, "Chromium is missing: apt-get install chromium"
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--remote-debugging-port=0", "--remote-allow-origins=*",
             f"--user-data-dir={self.folder}", *flags, "about:blank"],
            # What it leaves in the folder for temporary files goes with the rest.
            env=os.environ | {"TMPDIR": self.folder},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.port = None
        self.tabs = []
        super().__init__(self._first_tab())

    def _first_tab(self):
        """Its address; the port is in a file that Chromium writes once it listens."""
        file = os.path.join(self.folder, "DevToolsActivePort")
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            assert self.process.poll() is None, "Chromium ended at once"
            if os.path.exists(file) and (lines := open(file).read().split()):
                self.port = lines[0]
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json", timeout=TIMEOUT) as answer:
                    pages = [each for each in json.load(answer) if each["type"] == "page"]
                if pages:
                    return pages[0]["webSocketDebuggerUrl"]
            time.sleep(0.02)
        raise AssertionError("Chromium did not get ready")

    def new_tab(self, url="about:blank"):
        """Another tab of the same browser, with the same connections and locks."""
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        tab = Page(f"ws://127.0.0.1:{self.port}/devtools/page/{target}")
        self.tabs.append(tab)
        tab.open(url)
        return tab

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait(TIMEOUT)
        eventually(self._is_away, "Chromium's processes, which end one by one, have stopped writing")

    def _is_away(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        return not os.path.exists(self.folder)
