"""Scenarios by the command: those that are shipped, one that fails, what a CI and an editor read."""

import json
import pathlib
import subprocess
import xml.etree.ElementTree

import jsonschema
import pytest

from harness import BINARY

EXAMPLES = sorted((pathlib.Path(__file__).parents[2] / "Examples" / "Scenarios").glob("*.json"))


def run(*arguments, folder="."):
    return subprocess.run(
        [BINARY, "scenario", *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=120, check=False)


def test_the_shipped_ones_pass_and_leave_nothing_behind(tmp_path):
    done = run("run", *EXAMPLES, "--junit", "report.xml", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].startswith("12 of 12 scenarios passed")
    suite = xml.etree.ElementTree.parse(tmp_path / "report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("12", "0")
    assert len(suite.findall("testcase")) == 12
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.xml"]


def test_every_run_is_the_same():
    first, second = (run("run", *EXAMPLES[:3], "--json") for _ in range(2))
    assert first.stdout == second.stdout
    assert [scenario["passed"] for scenario in json.loads(first.stdout)["scenarios"]] == [True] * 3


def test_one_that_fails_names_file_line_expected_and_got(tmp_path):
    text = (EXAMPLES[0].parent / "first-push.json").read_text()
    story = tmp_path / "story.json"
    story.write_text(text.replace('{"badge": 1}', '{"badge": 7}'))
    line = next(number for number, row in enumerate(story.read_text().splitlines(), 1) if '"badge": 7' in row)
    done = run("run", "story.json", "--junit", "report.xml", folder=tmp_path)
    assert done.returncode == 1
    assert any(
        row.startswith(f"story.json:{line}:") and row.endswith(": expected badge 7, got 1")
        for row in done.stdout.splitlines()), done.stdout
    failure = xml.etree.ElementTree.parse(tmp_path / "report.xml").getroot().find("testcase/failure")
    assert failure.get("message").endswith("expected badge 7, got 1")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"name": "x",\n "phones": 3, "steps": []}', "story.json:2:12: phones: expected an object of phones, got 3"),
        ('{"name": "x"', 'story.json:1:13: expected "}"'),
    ])
def test_a_file_that_is_none_says_where_and_why(tmp_path, text, sentence):
    (tmp_path / "story.json").write_text(text)
    done = run("run", "story.json", folder=tmp_path)
    assert done.returncode == 1 and sentence in done.stderr, done.stderr


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_schema_knows_the_shipped_ones(path):
    schema = json.loads(run("schema").stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(path.read_text()), schema)


def test_the_schema_refuses_what_the_program_refuses():
    schema = json.loads(run("schema").stdout)
    start = {"name": "x", "phones": {"anna": {"apps": {"com.example.app": {}}}}}
    for step in [{"wait": 3}, {"sleep": "1s"}, {"person": {"do": "jump"}}, {"push": {"to": "anna"}}, {"expect": {"is": 1}}]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**start, "steps": [step]}, schema)
