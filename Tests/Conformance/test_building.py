"""What `make` does before it builds."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).parents[2]


def test_a_look_for_what_is_missing_leaves_nothing_in_the_temporary_folder(tmp_path):
    subprocess.run([ROOT / ".ci/install", "run"], env={**os.environ, "TMPDIR": str(tmp_path)}, check=True, timeout=60)
    assert os.listdir(tmp_path) == []
