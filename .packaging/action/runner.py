"""What a runner of GitHub makes of a composite action, as far as ours uses it."""

import os
import pathlib
import re
import subprocess

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "apns-emulator"


class Run:
    """One use of the action, in a folder that is the runner's temporary one."""

    def __init__(self, folder, **inputs):
        self.description = yaml.safe_load((ACTION / "action.yml").read_text())
        unknown = inputs.keys() - self.description["inputs"].keys()
        assert not unknown, f"the action has no {unknown}"
        self.inputs = {name: inputs.get(name, told["default"]) for name, told in self.description["inputs"].items()}
        self.folder = folder
        self.steps = {}
        self.printed = ""
        self.status = 0
        for step in self.description["runs"]["steps"]:
            if self.status == 0 and self.holds(step.get("if", "true")):
                self.run(step)

    def run(self, step):
        assert step["shell"] == "bash"
        files = {name: self.folder / name for name in ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH")}
        output = self.folder / f"output-{step['id']}"
        told = {name: self.expand(str(value)) for name, value in step.get("env", {}).items()}
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "RUNNER_TEMP": str(self.folder),
            "GITHUB_ACTION_PATH": str(ACTION), **{name: str(path) for name, path in files.items()},
            "GITHUB_OUTPUT": str(output), **told}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        self.printed += done.stdout
        self.status = done.returncode
        self.steps[step["id"]] = pairs(output)

    @property
    def outputs(self):
        return {name: self.expand(told["value"]) for name, told in self.description["outputs"].items()}

    @property
    def environment(self):
        """That of the steps that follow."""
        path = self.folder / "GITHUB_PATH"
        first = path.read_text().splitlines() if path.exists() else []
        return {"HOME": str(self.folder), **pairs(self.folder / "GITHUB_ENV"), "PATH": ":".join([*first, os.environ["PATH"]])}

    def holds(self, condition):
        if condition == "true":
            return True
        name, value = re.fullmatch(r"inputs\.(\w+) == '(.*)'", condition).groups()
        return self.inputs[name] == value

    def expand(self, text):
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: self.value(found[1]), text)

    def value(self, expression):
        if expression == "github.action_repository || github.repository":
            return "you/apns-emulator"
        match expression.split("."):
            case ["inputs", name]:
                return self.inputs[name]
            case ["steps", step, "outputs", name]:
                return self.steps.get(step, {}).get(name, "")
        raise AssertionError(f"nobody knows {expression}")


def pairs(path):
    return dict(line.split("=", 1) for line in path.read_text().splitlines()) if path.exists() else {}
