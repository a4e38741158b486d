"""The action with a local tarball, and what goes wrong; the workflows that the documentation shows."""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import threading

import pytest
import yaml
from runner import ACTION, ROOT, Run

TARBALL = pathlib.Path(os.environ["TARBALL"])
VERSION = re.search(r"apns-emulator-(.*)-linux-", TARBALL.name)[1]
CONTAINERFILE = ROOT / ".packaging" / "image" / "Containerfile"
FREE_PORTS = " ".join(f"--{name}-port 0" for name in ("gateway", "feedback", "provider", "courier", "console", "proxy"))


@pytest.fixture
def release(tmp_path):
    """A folder with the tarball and what its checksum should be."""
    folder = tmp_path / "release"
    folder.mkdir()
    shutil.copy(TARBALL, folder)
    (folder / "SHA256SUMS").write_text(f"{hashlib.sha256(TARBALL.read_bytes()).hexdigest()}  {TARBALL.name}\n")
    return folder


@pytest.fixture
def use(tmp_path):
    """Uses the action, and ends what it has started."""
    temporary = tmp_path / "runner"
    temporary.mkdir()
    yield functools.partial(Run, temporary)
    ports = temporary / "apns-emulator" / "ports.json"
    if ports.exists():
        # Not a child of ours.
        process = os.pidfd_open(json.loads(ports.read_text())["pid"])
        signal.pidfd_send_signal(process, signal.SIGTERM)
        assert select.select([process], [], [], 30)[0]
        os.close(process)


def test_the_program_is_on_the_path_of_what_follows(use, release):
    run = use(path=str(release / TARBALL.name))
    assert run.status == 0, run.printed
    told = subprocess.run(["sh", "-c", "apns-emulator --version"], env=run.environment, capture_output=True, text=True)
    assert told.stdout == f"apns-emulator {VERSION}\n" and run.outputs["version"] == VERSION
    assert run.outputs["console"] == "" and "notice" not in run.printed


def test_an_emulator_runs_where_the_environment_says(use, release):
    run = use(path=str(release / TARBALL.name), serve="true", flags=f"{FREE_PORTS}\n--environment production")
    assert run.status == 0, run.printed
    for name in ("gateway", "feedback", "provider", "courier", "console", "proxy"):
        host, port = run.outputs[name].split(":")
        socket.create_connection((host, int(port))).close()
        assert run.environment[f"APNS_EMULATOR_{name.upper()}"] == run.outputs[name]
    assert pathlib.Path(run.outputs["ca"]).parent == pathlib.Path(run.outputs["certs"])
    script = "apns-emulator push phone-1 com.example.app '{\"aps\":{\"alert\":\"Hello\"}}' && curl -sf http://$APNS_EMULATOR_CONSOLE/api/v1/info"
    told = subprocess.run(["sh", "-c", script], env=run.environment, capture_output=True, text=True)
    assert told.returncode == 0 and '"environment":"production"' in told.stdout and '"accepted":1' in told.stdout, told


def test_a_release_is_downloaded_and_its_checksum_looked_at(use, release):
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(release))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        run = use(version=VERSION, url=f"http://127.0.0.1:{server.server_port}")
        assert run.status == 0 and run.outputs["version"] == VERSION, run.printed
        missing = use(version="9.9.9", url=f"http://127.0.0.1:{server.server_port}")
        assert missing.status != 0 and "::error::can't download" in missing.printed
        server.shutdown()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda release: {"sha256": "0" * 64}, "another checksum than it should"),
        (lambda release: (release / "SHA256SUMS").write_text(f"{'0' * 64}  {TARBALL.name}\n"), "another checksum than it should"),
        (lambda release: (release / "SHA256SUMS").write_text(f"{'0' * 64}  other\n"), "does not tell of"),
        (lambda release: (release / TARBALL.name).unlink(), "there is no "),
    ],
    ids=["pinned", "changed", "not told", "not there"])
def test_what_is_not_what_it_should_be_is_not_installed(use, release, change, sentence):
    inputs = change(release)
    run = use(path=str(release / TARBALL.name), **(inputs if isinstance(inputs, dict) else {}))
    assert run.status != 0 and "::error::" in run.printed and sentence in run.printed, run.printed
    assert "apns-emulator" not in run.environment["PATH"]


def test_neither_version_nor_path_is_told(use):
    run = use()
    assert run.status != 0 and "::error::say which version" in run.printed


def test_flags_that_are_none_are_told(use, release):
    run = use(path=str(release / TARBALL.name), serve="true", flags="--colour blue")
    assert run.status != 0 and "::error::apns-emulator did not start" in run.printed and "--colour" in run.printed


def workflows():
    text = (ROOT / "Documentation" / "ci.md").read_text()
    return [yaml.load(block, yaml.BaseLoader) for block in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S)]


def test_the_workflows_of_the_documentation_use_what_there_is():
    inputs = yaml.safe_load((ACTION / "action.yml").read_text())["inputs"]
    used = 0
    for workflow in workflows():
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                assert ("uses" in step) != ("run" in step), step
                if "apns-emulator" in step.get("uses", ""):
                    assert step["with"].keys() <= inputs.keys(), step
                    used += 1
    assert used >= 2 and len(workflows()) >= 3


@pytest.mark.skipif(not CONTAINERFILE.exists(), reason="no image is made here")
def test_the_image_of_the_documentation_is_told_what_it_knows():
    [service] = [
        service for workflow in workflows() for job in workflow["jobs"].values() for service in job.get("services", {}).values()]
    [exposed] = re.findall(r"^EXPOSE (.*)$", CONTAINERFILE.read_text(), re.M)
    assert {port.split(":")[1] for port in service["ports"]} <= set(exposed.split())
    known = subprocess.run([installed(), "serve", "--help"], capture_output=True, text=True, check=True).stdout
    for name in service["env"]:
        assert "--" + name.removeprefix("APNS_EMULATOR_").lower().replace("_", "-") in known


@functools.cache
def installed():
    folder = ROOT / ".build" / "dist-test" / "action-binary"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["tar", "-xzf", TARBALL, "-C", folder, "--strip-components=1"], check=True)
    return folder / "bin" / "apns-emulator"
