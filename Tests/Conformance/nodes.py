"""Several nodes and their NATS server, on this machine: each node the real binary in a folder of its own."""

import json
import os
import shutil
import signal
import subprocess
import time
import urllib.error

from harness import TIMEOUT, Emulator, eventually
from partitions import Announcements, Network

NATS = shutil.which("nats-server", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")


class NATSServer:
    """A nats-server, with JetStream unless told otherwise, on the same port in each of its lives."""

    def __init__(self, folder, *flags, jet_stream=True):
        self.flags, self.jet_stream = flags, jet_stream
        self.folder = os.path.join(str(folder), "engine")
        os.makedirs(self.folder)
        self.port = -1
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [NATS, *(["-js", "-sd", self.folder] if self.jet_stream else []), "-a", "127.0.0.1", "-p", str(self.port),
             "--ports_file_dir", self.folder, *self.flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        file = os.path.join(self.folder, f"nats-server_{self.process.pid}.ports")
        if self.port < 0:
            self.port = int(eventually(lambda: self._told(file), "nats-server listens").rsplit(":", 1)[1])
        return self

    @staticmethod
    def _told(file):
        try:
            with open(file) as text:
                return json.load(text)["nats"][0]
        except (OSError, ValueError):
            return None

    @property
    def url(self):
        return f"nats://127.0.0.1:{self.port}"

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


def secret_file(folder):
    """A file for `--cluster-secret`."""
    path = os.path.join(str(folder), "secret")
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(os.urandom(16).hex() + "\n")
    return path


class Node(Emulator):
    def __init__(self, cluster, number):
        folder = os.path.join(cluster.folder, f"node-{number}")
        os.makedirs(folder)
        os.symlink(cluster.certs, os.path.join(folder, "certs"))
        super().__init__(folder)
        self.cluster, self.name = cluster, f"node-{number}"
        # For each of its starts.
        self.flags = ()
        # Where the NATS server is for this node.
        self.nats = cluster.nats

    def start(self, *flags, **options):
        if self.cluster.secret:
            flags = ("--cluster-secret", self.cluster.secret, *flags)
        return super().start(
            "--nats", f"nats://127.0.0.1:{self.nats.port}", "--node", self.name, "--zones", str(self.cluster.zones), *self.flags, *flags,
            **options)

    def unreadiness(self):
        """What keeps the node from being ready; nothing if it is."""
        try:
            self.api("GET", "/readyz")
            return ""
        except urllib.error.HTTPError as error:
            return f"{self.name}: {json.load(error)['error']['message']}"

    @property
    def is_alive(self):
        return self.process is not None and self.process.poll() is None


class Ways:
    """A cluster's: from each node to the NATS server, and to each other node."""

    def __init__(self, cluster):
        self.network = Network()
        self.between, self.ports = {}, {}
        for node in cluster.nodes:
            for other in cluster.nodes:
                if node is not other:
                    self.between[node.name, other.name] = self.network.way(
                        f"{node.name} to {other.name}", lambda name=other.name: self.ports[name])
            node.nats = self.network.way(
                f"{node.name} to NATS", lambda: cluster.nats.port, lambda name=node.name: self._announcements(name))
        self.to_nats = [node.nats for node in cluster.nodes]

    def _announcements(self, listener):
        def heard(name, port):
            self.ports[name] = port
            way = self.between.get((listener, name))
            return way.port if way else port
        return Announcements(heard)

    def heal(self):
        self.network.heal()

    def close(self):
        self.network.close()


class Cluster:
    """The nodes are numbered from 1, as people count."""

    def __init__(self, folder, certs, nodes=3, zones=16):
        self.folder, self.zones = str(folder), zones
        # Of its own, as devices keep their state in it.
        self.certs = shutil.copytree(certs, os.path.join(folder, "certs"))
        self.secret = secret_file(folder)
        self.nats = NATSServer(folder)
        self.nodes = [Node(self, number + 1) for number in range(nodes)]
        self.ways = None

    def through_ways(self):
        """To be called before the start: all that nodes and NATS say to each other goes by ways that can fail. They change what nodes
        say of their ports, which nobody could who does not know their secret: there is none."""
        self.secret = None
        self.ways = Ways(self)
        return self

    def start(self):
        self.nats.start()
        for node in self.nodes:
            node.start()
        return self.ready()

    def ready(self):
        """Waits until each node that lives sees an owner for each zone."""
        deadline = time.monotonic() + TIMEOUT
        while reasons := [reason for node in self.nodes if node.is_alive and (reason := node.unreadiness())]:
            assert time.monotonic() < deadline, f"waited in vain until all nodes are ready: {reasons}"
            time.sleep(0.02)
        return self

    def settled(self):
        """Waits until the zones lie evenly, as all nodes see it: none is about to move."""
        for node in self.nodes:
            eventually(lambda node=node: self._is_settled(node), f"the zones lie evenly, as {node.name} sees it")
        return self

    def _is_settled(self, node):
        seen = node.api("GET", "/api/v1/cluster")
        owned = [sum(zone["owner"] == other.name for zone in seen["zones"]) for other in self.nodes]
        return sum(owned) == self.zones and max(owned) - min(owned) <= 1 and not any(
            zone["moving"] for zone in seen["zones"])

    def stop(self):
        for node in self.nodes:
            if node.is_alive:
                node.kill()
        if self.nats.process and self.nats.process.poll() is None:
            self.nats.go_on()
            self.nats.kill()
        if self.ways:
            self.ways.close()
