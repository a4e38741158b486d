import os
import sys

import pytest

CONFORMANCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [os.path.join(CONFORMANCE, "provider"), os.path.join(CONFORMANCE, "hostile")]

from torture import Tormentor  # noqa: E402


@pytest.fixture(scope="session")
def tormentor(tmp_path_factory):
    return Tormentor(tmp_path_factory.mktemp("torture"))
