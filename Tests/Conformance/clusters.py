"""A cluster as `make cluster` starts it."""

import json
import os
import signal
import subprocess

from harness import BINARY, TIMEOUT, Emulator, eventually

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NAMES = ["node-1", "node-2", "node-3"]


class Node(Emulator):
    """One of the cluster's, which the script starts and starts again."""

    def __init__(self, folder, name):
        super().__init__(folder)
        self.name = name
        self.ports_file = os.path.join(self.folder, f"{name}.json")
        self.look()

    def look(self):
        with open(self.ports_file) as file:
            self.ports = json.load(file)
        return self

    @property
    def cluster(self):
        """What it says of the cluster; nothing while it does not answer."""
        try:
            return self.look().api("GET", "/api/v1/cluster")
        except (OSError, ValueError):
            return {"ready": False, "nodes": [], "zones": [], "because": "no answer"}


def hear_control_c():
    """As in a terminal: in the background of a shell without job control Ctrl-C is ignored, and a shell keeps ignoring it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Cluster:
    def __init__(self, folder):
        self.folder = str(folder)
        self.process = subprocess.Popen(
            [os.path.join(ROOT, ".ci", "cluster")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, preexec_fn=hear_control_c, env=os.environ | {
                "APNS_EMULATOR_BINARY": BINARY, "CLUSTER_FOLDER": self.folder, "CLUSTER_CONSOLE_PORT": "0"})
        self.told = ""
        for line in self.process.stdout:
            self.told += line
            if line == "ready\n":
                break
        else:
            raise AssertionError(self.told)
        self.nodes = [Node(self.folder, name) for name in NAMES]

    def is_whole(self):
        """Three nodes, each as ready as the others know, and the zones spread."""
        return all(
            seen["ready"] and sorted(node["name"] for node in seen["nodes"]) == NAMES
            and all(node["owned"] >= 21 for node in seen["nodes"])
            and not any(zone["moving"] for zone in seen["zones"])
            for seen in (node.cluster for node in self.nodes))

    def whole(self):
        try:
            eventually(self.is_whole, "three nodes have their zones", timeout=60)
        except AssertionError:
            # Who sees what says why.
            for node in self.nodes:
                print(node.name, json.dumps(node.cluster))
            raise
        return self

    def owner(self, zone, by=0):
        return self.nodes[by].cluster["zones"][zone]["owner"]

    def zone_of(self, name):
        """A zone of that node."""
        return next(zone["zone"] for zone in self.nodes[0].cluster["zones"] if zone["owner"] == name)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.told += self.process.communicate(timeout=TIMEOUT)[0]
        return self.process.returncode
