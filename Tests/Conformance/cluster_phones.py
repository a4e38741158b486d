"""How long phones stay offline when nodes fail: `device`, as people run it, two at each node, beside the checker's rounds."""

import collections
import json
import socket
import statistics
import subprocess
import threading
import time
import urllib.error

from harness import BINARY, TOPIC, eventually


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Phone:
    """Knows one node, as one behind its address."""

    def __init__(self, node, udid):
        self.node, self.is_online, self.gone, self.offline = node, False, None, []
        # What it has told last, and when.
        self.last = ()
        self.process = subprocess.Popen(
            [BINARY, "device", "--udid", udid, "--topic", TOPIC, "--json"], cwd=node.folder, env=node.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            event, now = json.loads(line)["event"], time.monotonic()
            self.last = (*self.last[-9:], (now, line.strip()))
            if event == "disconnected" and self.is_online:
                self.is_online, self.gone = False, now
            elif event == "connected" and not self.is_online:
                if self.gone:
                    self.offline.append((self.gone, now))
                self.is_online = True


class Phones:
    """Begin before the nodes do, whose couriers have the same ports in all their lives from then on."""

    def __init__(self, cluster):
        self.cluster, self.phones, self.figures = cluster, [], collections.defaultdict(list)
        # When each node has become ready last; None while it is not.
        self.ready = {}
        for node in cluster.nodes:
            node.flags = (*node.flags, "--courier-port", str(free_port()))

    def start(self):
        self.phones = [Phone(node, f"{node.name}-phone-{number}") for node in self.cluster.nodes for number in (1, 2)]
        threading.Thread(target=self._watch, daemon=True).start()
        self.wait()

    def _watch(self):
        while self.phones:
            for node in self.cluster.nodes:
                if not self._is_ready(node):
                    self.ready[node] = None
                elif self.ready.get(node) is None:
                    self.ready[node] = time.monotonic()
            time.sleep(0.05)

    @staticmethod
    def _is_ready(node):
        try:
            return node.is_alive and not node.unreadiness()
        except (OSError, ValueError, urllib.error.URLError):
            return False

    @property
    def count(self):
        return len(self.phones)

    def wait(self):
        """Until all are there again."""
        eventually(lambda: all(phone.is_online for phone in self.phones), self._missing)

    def _missing(self):
        return "\n".join(["all phones are back", *(
            f"{phone.node.name}, {time.monotonic() - at:.1f} s ago: {line}"
            for phone in self.phones if not phone.is_online for at, line in phone.last)])

    def note(self, fault):
        """What has happened since the last time was the fault's doing."""
        self.wait()
        for phone in self.phones:
            ready, offline = self.ready.get(phone.node), phone.offline
            phone.offline = []
            for gone, back in offline:
                self.figures[fault].append((back - gone, max(0, back - max(gone, ready or back))))

    def report(self):
        lines = [f"  {fault}: {self._of(figures)}" for fault, figures in sorted(self.figures.items())]
        everything = [each for figures in self.figures.values() for each in figures]
        return "\n".join([f"phones: {self._of(everything)}", *lines])

    @staticmethod
    def _of(figures):
        def told(times):
            return f"p50 {statistics.median(times):.2f} s, max {max(times):.2f} s"
        if not figures:
            return "none was offline"
        whole, behind = zip(*figures)
        return f"offline {len(figures)} times, for {told(whole)}; after their node was ready {told(behind)}"

    def stop(self):
        phones, self.phones = self.phones, []
        for phone in phones:
            phone.process.kill()
            phone.process.wait()
