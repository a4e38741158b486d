"""Libraries that don't get along with those of the tests' environment, in folders of their own."""

import fcntl
import os
import subprocess
import sys
import sysconfig
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
REQUIREMENTS = {
    "api": "api/requirements.txt", "apns2": "provider/requirements-apns2.txt", "django": "provider/requirements-django.txt"}
# Those of `make drills` alone.
DRILLED = {name: f"../Drills/requirements/{name}.txt" for name in ("apns", "pushjack", "pyapns-client")}


def libraries(name, tmp_path_factory=None):
    """The folder of what a file of requirements names. Kept in the tests' environment, and made again with it, or when the
    requirements change; of several processes that want it one makes it. It lies where installed libraries do: hypothesis parses the
    source of all others, in search of constants to try, which took a quarter of its tests."""
    requirements = os.path.join(HERE, (REQUIREMENTS | DRILLED)[name])
    with open(requirements, "rb") as file:
        mark = f"{name}-{zlib.crc32(file.read()):08x}"
    in_environment = sys.prefix != sys.base_prefix
    folder = os.path.join(sysconfig.get_path("purelib") if in_environment else tmp_path_factory.mktemp("libraries"), mark)
    with open(folder + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(folder):
            making = folder + f".{os.getpid()}"
            subprocess.run(
                [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps",
                 "--target", making, "-r", requirements], check=True)
            os.rename(making, folder)
    return folder


if __name__ == "__main__":
    # Before the tests, so that none has to wait for it.
    for each in REQUIREMENTS:
        libraries(each)
