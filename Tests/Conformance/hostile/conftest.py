import os
import sys

import pytest

# The attacks share the raw HTTP/2 client of the providers' tests.
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "provider"))

from rig import issue  # noqa: E402


@pytest.fixture(scope="session")
def hostile_certs(tmp_path_factory):
    return issue(tmp_path_factory.mktemp("hostile"))
