"""What takes long to make, and is the same for all processes that share the tests."""

import fcntl
import os


def made_once(tmp_path_factory, name, make):
    """A folder of that name that `make` fills, in whichever process wants it first; the others wait, and find it full. Nobody may
    change what is in it."""
    common = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        common = common.parent
    folder = common / name
    with open(common / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = common / f"{name}.making"
            making.mkdir()
            make(making)
            making.rename(folder)
    return folder
