"""Apple's push service inside your tests.

>>> with Emulator() as emulator:
...     device = emulator.device("phone-1", "com.example.app")
...     key = emulator.issue_key("TEAM123456")
...     # ... the code under test pushes to device.token at emulator.provider ...
...     push = emulator.wait_for_push(token=device.token)
...     assert push.accepted

With pytest there is nothing to start: ``apns_emulator``, ``apns_device``, ``apns_key``, ``apns_advice`` and ``wait_for_push`` are
fixtures.
"""

from .advice import Finding
from .clock import Clock
from .console import ConsoleError
from .credentials import Certificate, Key
from .devices import Device, Message
from .emulator import Address, Emulator
from .faults import Fault, Faults
from .process import EmulatorError, binary_path
from .pushes import Filters, NoPush, Push

__all__ = [
    "Address",
    "Certificate",
    "Clock",
    "ConsoleError",
    "Device",
    "Emulator",
    "EmulatorError",
    "Fault",
    "Faults",
    "Filters",
    "Finding",
    "Key",
    "Message",
    "NoPush",
    "Push",
    "binary_path",
]
