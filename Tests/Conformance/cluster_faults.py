"""What goes wrong among nodes and NATS, each for a while: takes the cluster and a source of chance."""

import signal
import time


def kill_a_node(cluster, chance):
    chance.choice(cluster.nodes).kill()


def stop_a_node_for_a_while(cluster, chance):
    node = chance.choice(cluster.nodes)
    node.process.send_signal(signal.SIGSTOP)
    time.sleep(chance.choice((0.5, 2, 4.5)))
    node.process.send_signal(signal.SIGCONT)


def drain_a_node(cluster, chance):
    chance.choice(cluster.nodes).stop()


def kill_the_nats_server(cluster, chance):
    cluster.nats.kill()
    time.sleep(chance.choice((0, 0.3, 2)))
    cluster.nats.start()


def stop_the_nats_server_for_a_while(cluster, chance):
    cluster.nats.pause()
    time.sleep(chance.choice((0.3, 1.5, 3.5)))
    cluster.nats.go_on()


def cut_a_node_off(cluster, chance):
    """Its connection to the NATS server is reset, and it gets no other."""
    chance.choice(cluster.ways.to_nats).cut()
    wait(chance)


def silence_a_node(cluster, chance):
    """What it and the NATS server say to each other, or one of them, is not heard, and is heard later; or never."""
    way = chance.choice(cluster.ways.to_nats)
    way.silence(*some_direction(chance))
    wait(chance)
    perhaps_cut(way, chance)


def slow_down_nodes(cluster, chance):
    """The NATS server is far away, for some."""
    for way in chance.sample(cluster.ways.to_nats, chance.randint(1, 3)):
        way.slow(chance.choice((0.02, 0.2, 0.8)))
    wait(chance)


def part_two_nodes(cluster, chance):
    """Two nodes reach the NATS server, and not each other; or only one the other."""
    for way in some_way_between(cluster, chance):
        way.cut()
    wait(chance)


def silence_between_two_nodes(cluster, chance):
    """What they say to each other is heard much later; or never."""
    ways, direction = some_way_between(cluster, chance), some_direction(chance)
    for way in ways:
        way.silence(*direction)
    wait(chance)
    for way in ways:
        perhaps_cut(way, chance)


def isolate_a_node(cluster, chance):
    """Nobody hears it, and it hears nobody: neither the NATS server nor the others."""
    node, is_cut = chance.choice(cluster.nodes), chance.random() < 0.5
    ways = [way for pair, way in cluster.ways.between.items() if node.name in pair]
    for way in [node.nats, *ways]:
        way.cut() if is_cut else way.silence()
    wait(chance)


def silence_a_node_and_kill_another(cluster, chance):
    node, other = chance.sample(cluster.nodes, 2)
    node.nats.silence(*some_direction(chance))
    other.kill()
    wait(chance)


def stop_a_node_and_kill_another(cluster, chance):
    """What the one that is gone had passed on is found by the other when it wakes, with what came by the third meanwhile."""
    node, other = chance.sample(cluster.nodes, 2)
    node.process.send_signal(signal.SIGSTOP)
    time.sleep(chance.choice((0.1, 0.5)))
    other.kill()
    time.sleep(chance.choice((0.3, 1, 1.8)))
    node.process.send_signal(signal.SIGCONT)


KILLS = [kill_a_node, kill_the_nats_server, drain_a_node]
STOPS = [stop_a_node_for_a_while, stop_the_nats_server_for_a_while, stop_a_node_and_kill_another]
CUTS = [
    silence_a_node, cut_a_node_off, silence_between_two_nodes, part_two_nodes, isolate_a_node, slow_down_nodes,
    silence_a_node_and_kill_another]


def wait(chance):
    """Less than a lease is good for, more, or longer than anybody waits."""
    time.sleep(chance.choice((0.5, 1.5, 2.7, 3.5, 6)))


def some_direction(chance):
    return chance.choice(((True, True), (True, False), (False, True)))


def some_way_between(cluster, chance):
    """There and back, or one alone: each has the connections that its first node has made."""
    one, other = (node.name for node in chance.sample(cluster.nodes, 2))
    both = [cluster.ways.between[one, other], cluster.ways.between[other, one]]
    return both if chance.random() < 0.7 else both[:1]


def perhaps_cut(way, chance):
    """What was held is lost."""
    if chance.random() < 0.5:
        way.cut()
