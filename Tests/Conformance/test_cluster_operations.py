"""What an operator does to a cluster and sees of it: nodes that are away, a node that starts later, a NATS server that is missing."""

import datetime
import json
import pathlib
import re
import signal
import threading
import time
import urllib.error
import urllib.request

import pytest

from harness import TIMEOUT, eventually
from nodes import NATS

pytestmark = pytest.mark.skipif(NATS is None, reason="nats-server is not installed")


def missing(node):
    return node.api("GET", "/api/v1/notifications?limit=1")["missing"]


def waited(node, milliseconds):
    """What a wait says that nothing fulfils."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        node.api("POST", "/api/v1/notifications/wait", {"match": {"q": "nobody says that"}, "timeoutMs": milliseconds})
    assert caught.value.code == 408
    return json.load(caught.value)


def misses(node, *names):
    """Waits until its lists and waits name just these. A node that has just started, or hears of another's end, has to read that first,
    and a wait of a millisecond gives the others half a second."""
    eventually(lambda: missing(node) == list(names), lambda: f"{node.name} misses {names}, not {missing(node)}")
    eventually(lambda: waited(node, 1)["missing"] == list(names), f"a wait at {node.name} misses {names}")


def sees(node, *others):
    names = sorted(other.name for other in (node, *others))
    return lambda: sorted(each["name"] for each in node.api("GET", "/api/v1/cluster")["nodes"]) == names


def owned(node, name):
    """Zones that a node owns, or did last."""
    return [zone["zone"] for zone in node.api("GET", "/api/v1/cluster")["zones"] if zone["owner"] == name]


def led_zones(node):
    """Of each zone that a node leads by the log whether it knows so itself, as NATS has acknowledged its claim."""
    return [zone["seat"] == "here" for zone in node.api("GET", "/api/v1/cluster")["zones"] if zone["owner"] == node.name]


def clock(node):
    return {key: value for key, value in node.api("GET", "/api/v1/clock").items() if key != "now"}


def test_all_nodes_agree_on_the_clock_whenever_they_start(cluster):
    """To the millisecond, which is how the offset is told: orders are carried out when they are read, seconds later by who starts later."""
    first, second, third = cluster.nodes
    third.stop()
    second.api("PUT", "/api/v1/clock", {"advance": "61m"})
    moment, before = datetime.datetime(2027, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc), time.time()
    offset = first.api("PUT", "/api/v1/clock", {"set": moment.strftime("%Y-%m-%dT%H:%M:%SZ")})["offset"]
    assert moment.timestamp() - time.time() - 0.001 <= offset <= moment.timestamp() - before + 0.001
    # An order is answered when the node that was asked has carried it out.
    eventually(lambda: clock(second) == {"frozen": False, "offset": offset}, "the second knows what to move on from")
    told = second.api("PUT", "/api/v1/clock", {"advance": "-90s"})["offset"]
    assert told == pytest.approx(offset - 90, abs=0.001)
    third.start()
    cluster.ready()
    for node in cluster.nodes:
        eventually(lambda node=node: clock(node) == {"frozen": False, "offset": told}, "all have the same time")
    stands = first.api("PUT", "/api/v1/clock", {"freeze": True, "advance": "1h"})["now"]
    second.stop()
    second.start()
    cluster.ready()
    for node in cluster.nodes:
        eventually(lambda node=node: node.api("GET", "/api/v1/clock")["now"] == stands, "the time stands still at all")
    third.api("POST", "/api/v1/reset", {"what": ["clock"]})
    for node in cluster.nodes:
        eventually(lambda node=node: clock(node) == {"frozen": False, "offset": 0}, "all follow the system's clock again")


def test_alarms_are_of_metrics_that_there_are(cluster):
    page = pathlib.Path(__file__).parents[2] / "Documentation" / "cluster-operations.md"
    alarms = set(re.findall(r"\bapns_emulator_\w+", "".join(
        line for line in page.read_text().splitlines() if line.startswith("| `"))))
    with urllib.request.urlopen("http://%s:%s/metrics" % cluster.nodes[0].address("console"), timeout=TIMEOUT) as answer:
        there = set(re.findall(r"^# HELP (\w+)", answer.read().decode(), re.M))
    assert len(alarms) > 5 and alarms <= there


def test_a_node_that_is_away_is_missing_until_it_is_back_or_forgotten(cluster):
    first, second, third = cluster.nodes
    second.kill()
    # While it counts as living, asking it fails; later nobody asks it. A node that is started again knows of it, too.
    eventually(lambda: missing(first) == ["node-2"], "its history is missed")
    eventually(sees(first, third), "the others know that it is gone")
    third.stop()
    third.start()
    for node, other in ((first, third), (third, first)):
        eventually(sees(node, other), "they know of each other")
        misses(node, "node-2")
        assert node.metric("apns_emulator_cluster_missing_nodes") == 1
    status = first.run("cluster", "status", check=False)
    assert status.returncode == 1 and "cluster forget node-2" in status.stdout
    assert "cluster drain node-3" in first.run("cluster", "forget", "node-3", check=False).stderr
    assert "node-2" in first.run("cluster", "forget", "node-2").stdout
    for node in (first, third):
        misses(node)
    second.start()
    cluster.ready()
    second.kill()
    eventually(sees(first, third), "the others know that it is gone")
    eventually(lambda: missing(first) == ["node-2"], "it was back, and is away again")
    second.start()
    cluster.ready()
    for node in cluster.nodes:
        misses(node)


def test_a_node_that_left_in_order_is_not_missed(cluster):
    first, second, third = cluster.nodes
    assert second.stop() == 0
    for node in (first, third):
        misses(node)
    second.start()
    cluster.ready()


def test_a_node_that_hangs_is_named(cluster):
    """Neither a list nor a wait waits for it longer than it says."""
    first, second, third = cluster.nodes
    # Without a zone that it leads already it has nothing to write that could be refused, and lives on.
    cluster.settled()
    eventually(lambda: all(led_zones(second)), "it leads its zones")
    second.process.send_signal(signal.SIGSTOP)
    try:
        eventually(lambda: waited(first, 1000)["missing"] == ["node-2"], "a wait misses what it has")
        eventually(sees(first, third), "the others know that it is gone")
        eventually(lambda: missing(first) == ["node-2"], "a list misses it, too")
        eventually(lambda: not owned(first, "node-2"), "its zones are taken over")
    finally:
        second.process.send_signal(signal.SIGCONT)
    # What it writes is refused, and it ends.
    assert second.process.wait(TIMEOUT) == 4
    second.start()
    cluster.ready()


def test_a_node_says_that_it_waits_for_its_nats_server(cluster):
    """Last: it stops the NATS server. A node that starts without one says so before it gives up, and goes on when there is one."""
    for node in cluster.nodes:
        node.kill()
    cluster.nats.kill()
    first = cluster.nodes[0]
    starting = threading.Thread(target=first.start)
    starting.start()
    try:
        told = first.told("waiting for the NATS server")
    finally:
        cluster.nats.start()
        starting.join()
    assert f"127.0.0.1:{cluster.nats.port}" in told
    eventually(lambda: first.unreadiness() == "", "the node is ready")
