"""Ways to the NATS server and between nodes that can be cut, silent or slow: proxies on this machine, all on one thread."""

import asyncio
import re
import socket
import struct
import threading

from harness import TIMEOUT


class Network:
    """Carries the ways."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.ways = []
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def way(self, name, target, reader=None):
        """A way to a port of this machine; `target` answers which, `reader` makes a function that bytes from there go through."""
        way = Way(self, name, target, reader)
        self.do(way.open())
        self.ways.append(way)
        return way

    def heal(self):
        for way in self.ways:
            way.heal()

    def do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(TIMEOUT)

    def close(self):
        for way in self.ways:
            self.do(way.close())
        self.do(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)

    async def _end(self):
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.wait(others, timeout=1) if others else None


class Way:
    def __init__(self, network, name, target, reader):
        self.network, self.name, self.target, self.reader = network, name, target, reader
        # Whether bytes go there, and back.
        self.there, self.back = asyncio.Event(), asyncio.Event()
        self.there.set()
        self.back.set()
        self.is_cut, self.delay, self.writers = False, 0, set()

    # What happens to it

    def cut(self):
        """Connections are reset, and so is who comes."""
        self.network.do(self._cut())

    def silence(self, there=True, back=True):
        """Nothing arrives, and nobody hears of it: what is said meanwhile arrives later."""
        self.network.do(self._silence(there, back))

    def slow(self, seconds):
        """Everything arrives so much later."""
        self.network.do(self._slow(seconds))

    def heal(self):
        self.network.do(self._heal())

    async def _cut(self):
        self.is_cut = True
        for writer in list(self.writers):
            reset(writer)

    async def _silence(self, there, back):
        if there:
            self.there.clear()
        if back:
            self.back.clear()

    async def _slow(self, seconds):
        self.delay = seconds

    async def _heal(self):
        self.is_cut, self.delay = False, 0
        self.there.set()
        self.back.set()

    # How it goes

    async def open(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def close(self):
        self.server.close()
        await self._cut()

    async def _serve(self, reader, writer):
        self.writers.add(writer)
        try:
            if self.is_cut:
                return reset(writer)
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target())
        except OSError:
            return reset(writer)
        finally:
            self.writers.discard(writer)
        both = {writer, far_writer}
        self.writers |= both
        change = self.reader() if self.reader else None
        await asyncio.gather(
            self._carry(reader, far_writer, self.there, None), self._carry(far_reader, writer, self.back, change))
        self.writers -= both

    async def _carry(self, reader, writer, gate, change):
        """To the end, which arrives behind all else. One end's reset is the other's."""
        try:
            while data := await reader.read(1 << 16):
                data = change(data) if change else data
                await self._pass(gate)
                writer.write(data)
                await writer.drain()
            await self._pass(gate)
            writer.write_eof()
        except OSError:
            await self._pass(gate)
            reset(writer)

    async def _pass(self, gate):
        if self.delay:
            await asyncio.sleep(self.delay)
        await gate.wait()


def reset(writer):
    plain = writer.transport.get_extra_info("socket")
    if plain.fileno() >= 0:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Announcements:
    """What nodes tell each other of themselves: has a node hear of a way to each other node instead of that node's own address.
    All ports have five digits, so that nothing changes its length."""

    START = b'{"name":"'
    WHOLE = re.compile(rb'(\{"name":"([^"]+)","ordinal":\d+,"address":"127\.0\.0\.1:)(\d+)(?=")')
    LONGEST = 200

    def __init__(self, heard):
        """`heard` takes a node's name and port, and answers the port to tell."""
        self.heard, self.held = heard, b""

    def __call__(self, data):
        data = self.held + data
        start = self._unfinished(data)
        self.held = data[start:]
        return self.WHOLE.sub(self._told, data[:start])

    def _told(self, match):
        told = b"%d" % self.heard(match[2].decode(), int(match[3]))
        assert len(told) == len(match[3])
        return match[1] + told

    def _unfinished(self, data):
        """Where something begins that goes on with the next bytes."""
        start = data.rfind(self.START)
        if start >= 0 and len(data) - start < self.LONGEST and b'"console"' not in data[start:]:
            return start
        for count in range(len(self.START) - 1, 0, -1):
            if data.endswith(self.START[:count]):
                return len(data) - count
        return len(data)
