"""The projects of Examples/, each by the command that its README tells. That in Swift is built and tested by Tests/Consumer."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from harness import TIMEOUT
from player import installed

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ROOT / "Examples"
# .ci/install has their tools from Debian alone.
ONLY_DEBIAN = pytest.mark.skipif(sys.platform == "darwin", reason="needs packages of Debian")


def command(readme):
    """The last line of code of a README."""
    return re.findall(r"^    (\S.*)$", readme.read_text(), re.M)[-1]


@pytest.fixture
def environment(tmp_path):
    return installed(tmp_path)


@pytest.mark.parametrize(
    ("name", "last_words"),
    [
        pytest.param("Python", " passed in ", id="Python"),
        pytest.param("Node", "# fail 0", id="Node"),
        pytest.param("PHP", "ok - and told once", id="PHP"),
        pytest.param("Go", "ok  \texample.com/sender", id="Go"),
        pytest.param("Java", "all is well", id="Java", marks=ONLY_DEBIAN),
        pytest.param("Ruby", " 0 failures, 0 errors, 0 skips", id="Ruby", marks=ONLY_DEBIAN),
        pytest.param("Shell", "ok - the key is good without the certificate", id="Shell"),
    ])
def test_an_example_passes_its_own_test(tmp_path, environment, issued, name, last_words):
    folder = tmp_path / name
    shutil.copytree(EXAMPLES / name, folder)
    # What an earlier run has left, which saves the time that RSA keys take.
    shutil.copytree(issued, folder / "certs", dirs_exist_ok=True)
    done = subprocess.run(
        ["sh", "-c", command(folder / "README.md")], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=2 * TIMEOUT)
    assert done.returncode == 0 and last_words in done.stdout, done.stdout + done.stderr


def test_the_index_names_every_example():
    rows = re.findall(r"^\| \[(\w+)\]\((\w+)\) \|.*\| `(.*)` \|$", (EXAMPLES / "README.md").read_text(), re.M)
    assert [link for _, link, _ in rows] == [name for name, _, _ in rows]
    assert sorted(name for name, _, _ in rows) == sorted(each.name for each in EXAMPLES.iterdir() if each.is_dir())
    told = {name: line for name, _, line in rows if name != "Scenarios"}
    assert told == {name: command(EXAMPLES / name / "README.md") for name in told}
