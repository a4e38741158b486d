"""`soak.py` for ten seconds: long enough for a descriptor or a connection's memory that is lost at each turn to show."""

from rig import MEBIBYTE
from soak import Soak

SECONDS = 10
# Not everything has its size after two seconds.
ROOM = 32 * MEBIBYTE


def test_nothing_is_left_over_by_healthy_traffic(tmp_path, hostile_certs):
    soak = Soak(tmp_path / "emulator", hostile_certs, SECONDS, ROOM)
    try:
        assert soak.run(lambda _: None) == []
    finally:
        soak.emulator.stop()
