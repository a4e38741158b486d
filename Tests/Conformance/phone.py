"""What the tests of providers need: a device with one app, and what providers know of it."""

import json
import threading

from courier import MESSAGE, Device
from harness import TIMEOUT, TOPIC


class Phone:
    """A device that is registered, and offline or online as the test wants."""

    def __init__(self, emulator, udid="phone-1", topic=TOPIC):
        self.device = Device(emulator, *emulator.device_certificate(udid), topic)
        self.token = self.device.connect().app_token()
        self.device.close()

    @property
    def hex(self):
        return self.token.hex()

    def alerts(self):
        """Comes online; answers the alerts that were kept for it, acknowledges them, and goes again."""
        messages = self.device.connect().stored_notifications()
        for message in messages:
            self.device.acknowledge(message)
        self.device.close()
        return [self._alert(message) for message in messages]

    def online(self):
        """Comes online for good, with nothing kept for it."""
        assert self.device.connect().stored_notifications() == []
        self.device.socket.settimeout(TIMEOUT)

    def next_alert(self):
        """While online: waits for the next message and acknowledges it."""
        while True:
            command, items = self.device.receive()
            if command == MESSAGE:
                assert items[1] == self.token
                self.device.acknowledge(items)
                return self._alert(items)

    @staticmethod
    def _alert(message):
        return json.loads(message[3])["aps"]["alert"]


def in_background(function, *arguments):
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread
