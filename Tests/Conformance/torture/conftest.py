import pytest

from torture import Tormentor


@pytest.fixture(scope="session")
def tormentor(tmp_path_factory):
    return Tormentor(tmp_path_factory.mktemp("torture"))
