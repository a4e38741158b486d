"""The code that documents show, run as it stands. DOCUMENTS names them."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

BLOCKS = [
    pytest.param(block, id=f"{path.name}-{number}")
    for path in map(pathlib.Path, os.environ.get("DOCUMENTS", "").split())
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S), 1)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_a_document_runs(block, pytester):
    path = pytester.makepyfile(block)
    if "def test_" in block:
        outcomes = pytester.runpytest_subprocess().parseoutcomes()
        outcomes.pop("warnings", None)
        assert outcomes == {"passed": block.count("def test_")}
    else:
        done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
