"""What Fleet-style streams cost (`serve --fleet-events`), beside the least that such a service can be (`relay.c`).

    python fleet_streams.py [--binary FILE] [--streams N] [--runs N]

Opens so many streams, a token each, and pushes once to each of them over eight connections; tells the server's resident memory for each
stream, from the 1,000th on, and how long it took until all had read their push. One thread of Python is client and
devices, so the reference shows how fast that is. Needs as many files as there are streams, twice (`ulimit -n`)."""

import argparse
import os
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
PUSHERS = 8
# Memory is measured from here on, so that what every process has is not counted.
WARM = 1000
BODY = b'{"mdm":"0a1b2c3d-0000-4000-8000-000000000001"}'


class Relay:
    """`relay.c`, which is compiled for the run."""

    name = "relay.c"

    def __init__(self, folder):
        program = os.path.join(folder, "relay")
        subprocess.run(["cc", "-O2", "-o", program, os.path.join(HERE, "relay.c")], check=True)
        self.process = subprocess.Popen([program], stdout=subprocess.PIPE, text=True)
        self.address = ("127.0.0.1", int(self.process.stdout.readline()))


class Emulator:
    name = "apns-emulator"

    def __init__(self, folder, binary, *flags):
        off = [f"--{name}-port=off" for name in ("gateway", "feedback", "provider", "courier", "proxy")]
        port = free_port()
        self.process = subprocess.Popen(
            [binary, "serve", "--fleet-events", f"--console-port={port}", "--log-level", "error", *off, *flags], cwd=folder,
            stdout=subprocess.PIPE, text=True)
        while self.process.stdout.readline() != "ready\n":
            assert self.process.poll() is None, "serve ended"
        self.address = ("127.0.0.1", port)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def resident(process):
    with open(f"/proc/{process.pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Run:
    def __init__(self, server, count):
        self.server, self.count = server, count
        self.poll = select.epoll()
        self.readers, self.sockets = {}, []

    def connect(self):
        plain = socket.create_connection(self.server.address)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.poll.register(plain, select.EPOLLIN)
        self.sockets.append(plain)
        return plain

    def open(self):
        """Opens all streams; answers the seconds and the memory of each."""
        began, warm = time.monotonic(), 0
        for number in range(self.count):
            plain = self.connect()
            plain.sendall(f"GET /events?token={number:08x} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n".encode())
            head = plain.recv(4096)
            assert head.startswith(b"HTTP/1.1 200"), head
            plain.setblocking(False)
            self.readers[plain.fileno()] = plain
            if number + 1 == WARM:
                warm = resident(self.server.process)
        took = time.monotonic() - began
        return took, (resident(self.server.process) - warm) / max(1, self.count - WARM)

    def push(self):
        """Pushes once to each; answers the seconds until all have read their push."""
        waiting = [f"POST /3/device/{number:08x} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(BODY)}\r\n\r\n".encode() + BODY
                   for number in reversed(range(self.count))]
        pushers = {plain.fileno(): plain for plain in (self.connect() for _ in range(PUSHERS))}
        left, answered = set(self.readers), 0
        began = time.monotonic()
        for plain in pushers.values():
            plain.sendall(waiting.pop())
        while left or answered < self.count:
            ready = self.poll.poll(30)
            assert ready, f"{len(left)} pushes did not come"
            for descriptor, _ in ready:
                if descriptor in pushers:
                    answer = pushers[descriptor].recv(4096)
                    assert answer.startswith(b"HTTP/1.1 200"), answer
                    answered += 1
                    if waiting:
                        pushers[descriptor].sendall(waiting.pop())
                else:
                    text = self.readers[descriptor].recv(4096)
                    assert BODY in text, text
                    left.discard(descriptor)
        return time.monotonic() - began

    def close(self):
        for plain in self.sockets:
            plain.close()


def measure(server, count):
    run = Run(server, count)
    try:
        opened, memory = run.open()
        pushed = run.push()
        after = resident(server.process)
        again = run.push()
        print(f"{server.name:14} {count} streams opened in {opened:.2f} s, {memory / 1024:.2f} KiB each; "
              f"one push each in {pushed:.2f} s, again in {again:.2f} s; {after / 2**20:.1f} MiB resident", flush=True)
        if server.name == Emulator.name:
            with urllib.request.urlopen("http://%s:%s/stats" % server.address) as answer:
                print("              ", answer.read().decode(), flush=True)
    finally:
        run.close()
        server.process.terminate()
        server.process.wait()
        server.process.stdout.close()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--binary", default=os.path.join(HERE, "../../../.build/release/apns-emulator"))
    arguments.add_argument("--streams", type=int, default=5000)
    arguments.add_argument("--runs", type=int, default=3)
    asked = arguments.parse_args()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    if limit[1] < asked.streams + 100:
        sys.exit(f"{limit[1]} files may be open (ulimit -n), {asked.streams + 100} are needed")
    for _ in range(asked.runs):
        with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
            measure(Relay(folder), asked.streams)
            measure(Emulator(folder, os.path.abspath(asked.binary)), asked.streams)
            measure(Emulator(folder, os.path.abspath(asked.binary), "--ephemeral"), asked.streams)


if __name__ == "__main__":
    main()
