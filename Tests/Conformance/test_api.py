"""The console's API against its own description, by schemathesis."""

import os
import re
import subprocess
import sys

import pytest

from harness import TOPIC
from libraries import libraries

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "api")
# Bounds of each parameter are tried whatever the number; this is how many random requests of an operation come on top. `make api`
# sends more.
EXAMPLES = os.environ.get("API_EXAMPLES", "5")
SEED = os.environ.get("API_SEED", "1")

# Parts that can run at the same time, by the paths of their operations; "others" is everything else, and "sequences" are requests of all
# paths one after the other. For each: what the command is told, and the fewest requests that it must have made, so that it can't pass
# by doing nothing.
ONE_BY_ONE, SEQUENCES = ("--phases", "examples,coverage,fuzzing"), ("--phases", "stateful")
KINDS = {
    "phones": "^/api/v1/devices/.*/phone",
    "devices": "^/api/v1/(push|devices(?!/.*/phone))",
    "notifications": "^/api/v1/notifications",
    "certificates": "^/api/v1/(certificates|cluster)",
    "keys": "^/api/v1/(keys|explain|export|reset)|^/3/",
    "import": "^/api/v1/import"}
# What a person does to a phone has so many forms that what is tried by chance is a part of its own.
BY_RULE, BY_CHANCE = ("--phases", "examples,coverage"), ("--phases", "fuzzing")
PARTS = {
    **{name: ((*ONE_BY_ONE, "--include-path-regex", paths), 200) for name, paths in KINDS.items()},
    "phones": ((*BY_RULE, "--mode", "positive", "--include-path-regex", KINDS["phones"]), 200),
    "phones, what is not allowed": ((*BY_RULE, "--mode", "negative", "--include-path-regex", KINDS["phones"]), 200),
    "phones by chance": ((*BY_CHANCE, "--include-path-regex", KINDS["phones"]), 5),
    "others": ((*ONE_BY_ONE, "--exclude-path-regex", "|".join(KINDS.values())), 200),
    "sequences": (SEQUENCES, 15)}


@pytest.fixture(scope="session")
def schemathesis(tmp_path_factory):
    """An environment of its own beside the tests' one, made again when its requirements change."""
    folder = libraries("api", tmp_path_factory)

    def run(emulator, *arguments):
        host, port = emulator.address("console")
        # Nothing of the tests' own libraries: -I would hide the folder too, so the path is set and nothing else.
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()} | {
            "PYTHONPATH": os.pathsep.join((folder, HERE)), "SCHEMATHESIS_HOOKS": "hooks", "NO_COLOR": "1",
            # Its tables of Unicode take seconds to make; all parts share them, and keep no example for the next run.
            "HYPOTHESIS_STORAGE_DIRECTORY": f"{folder}.tables"}
        return subprocess.run(
            [sys.executable, "-m", "schemathesis.cli", "--config-file", os.path.join(HERE, "schemathesis.toml"), "run",
             f"http://{host}:{port}/api/v1/openapi.json", "--seed", SEED, "--max-examples", EXAMPLES,
             "--generation-database", "none", "--request-timeout", "10", "--continue-on-failure", "--warnings", "off", *arguments],
            cwd=emulator.folder, env=environment, capture_output=True, text=True, timeout=300)

    return run


def has_faults(emulator):
    try:
        emulator.api("GET", "/api/v1/faults")
    except OSError:
        return False
    return True


@pytest.mark.parametrize("part", PARTS)
def test_every_operation_answers_as_documented(schemathesis, emulator, part):
    """No 5xx, no undocumented status, content type or shape; valid requests are taken and others are not."""
    token = emulator.api("POST", f"/api/v1/devices/phone/apps/{TOPIC}/install")["token"]
    emulator.api("POST", "/api/v1/push", {"token": token, "topic": TOPIC, "payload": {"aps": {"alert": "Hello"}}})
    # Streams have no end; a part that is not in this run says so with 503.
    drills = ["/api/v1/drills", "/api/v1/drills/{drill}", "/api/v1/drills/complete"]
    excluded = ["/api/v1/events", "/api/v1/devices/{udid}/stream", *drills] + ([] if has_faults(emulator) else ["/api/v1/faults", "/api/v1/faults/{name}"])
    arguments, fewest = PARTS[part]
    result = schemathesis(emulator, *arguments, *(word for path in excluded for word in ("--exclude-path", path)))
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-2000:]
    generated, passed = map(int, re.search(r"(\d+) generated, (\d+) passed", result.stdout).groups())
    assert generated == passed > fewest
    assert emulator.api("GET", "/livez") == {"status": "live"}
