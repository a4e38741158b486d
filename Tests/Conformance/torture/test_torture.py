"""A sample of `torture.py`: the first call of each kind behind the start fails, or the first of all if there is none."""

import sys

import pytest

from torture import CALLS, Round

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="calls are replaced with the means of Linux' loader")


@pytest.mark.parametrize("call", CALLS)
def test_bears_a_failing(call, tormentor):
    start, end = tormentor.at_start[call], tormentor.in_all[call]
    if not end:
        pytest.skip("there is no such call")
    number = start + 1 if end > start else 1
    assert Round(tormentor, call, number).run() is None
