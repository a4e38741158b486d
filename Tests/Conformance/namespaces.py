"""A network, or places to mount, of a command's own: for root, and where the system allows it for others."""

import contextlib
import fcntl
import shutil
import socket
import struct
import subprocess
import sys

# Of `ioctl` and its `ifreq` (netdevice(7)).
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def own(*flags):
    """The command by which another gets what the flags of `unshare` say; None where that is not to be had."""
    if not shutil.which("unshare"):
        return None
    commands = (["unshare", *flags], ["unshare", "-r", *flags])
    return next((each for each in commands if subprocess.run([*each, "true"], capture_output=True).returncode == 0), None)


def switch_loopback_on():
    """A new network has it switched off. Does nothing to one that has it on, or is not ours."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(PermissionError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = fcntl.ioctl(any_socket, SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        flags, = struct.unpack_from("h", request, 16)
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))


if __name__ == "__main__":
    switch_loopback_on()
