"""The documentation, typed as it is printed: every block of every page, or a mark says why that can't be."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import pytest

import pages
from harness import TIMEOUT
from namespaces import own
from nodes import NATS
from pages import Slip, blocks, pattern
from player import Player

DEFAULT_PORTS = [2195, 2196, 2197, 5223, 8790, 8791]
# Of NATS servers, on the pages that start one.
NATS_PORTS = [4222, 4223]


def starts_nats(name):
    return any(word in block.text for block in blocks(name) if block.reason is None for word in ("nats-server", "make cluster"))


@contextlib.contextmanager
def free_ports(tmp_path_factory, ports):
    """What to put before a command that uses them. Without a network of one's own, one after the other has them."""
    if (command := own("-n")) is not None:
        yield command
        return
    common = tmp_path_factory.getbasetemp()
    with open((common.parent if "PYTEST_XDIST_WORKER" in os.environ else common) / "default-ports.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for port in ports:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    pytest.skip(f"somebody listens on port {port} here, and there is no network of one's own to be had")
        yield []


@pytest.mark.parametrize("name", pages.NAMES)
def test_a_page_is_true(tmp_path, tmp_path_factory, issued, name):
    if all(block.reason for block in blocks(name)):
        return
    if starts_nats(name) and NATS is None:
        pytest.skip("nats-server is not installed")
    # What an earlier run has left, which saves the time that keys take.
    shutil.copytree(issued, tmp_path / "certs")
    with free_ports(tmp_path_factory, DEFAULT_PORTS + (NATS_PORTS if starts_nats(name) else [])) as before:
        done = subprocess.run(
            [*before, sys.executable, pathlib.Path(__file__).parent / "player.py", name, tmp_path], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=8 * TIMEOUT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_picture_is_shown_by_a_page():
    text = "".join((pages.ROOT / name).read_text() for name in pages.NAMES)
    pictures = [str(path.relative_to(pages.ROOT / "Documentation")) for path in (pages.ROOT / "Documentation" / "images").rglob("*.webp")]
    assert len(pictures) > 4 and [path for path in pictures if f"{path})" not in text] == []


def slip(text, tmp_path):
    """What is found wrong with a page of that text."""
    with pytest.raises((Slip, AssertionError)) as raised, contextlib.closing(Player("page.md", tmp_path, text)) as player:
        player.play()
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("```\na picture\n```", "page.md:1: nobody knows how to type a block of no language marked ''"),
        ("<!-- fials -->\n\n    true", "marked 'fials'"),
        ("    true\n\n<!-- not typed: it is gone -->\n\nSome words.", "page.md:3: 'not typed: it is gone' is of no block"),
        ("<!-- not typed: test_of_nothing does -->\n\n    true", "there is no test_of_nothing"),
        ("```sh fails\nfalse", "page.md:1: a block without end"),
        ("<!-- fails -->\n```sh fails\nfalse\n```", "is said twice"),
        ("```json\n{\"a\": }\n```", "page.md:1: Expecting value"),
        ("```mermaid\nsequenceDiagram\nA->>B: hello\n```", "nobody has declared"),
    ])
def test_a_block_that_is_neither_typed_nor_marked_is_a_slip(tmp_path, text, told):
    assert told in slip(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("true", "nothing"),
        ("false\ntrue", "failed: 1: false"),
        ("apns-emulator explain nonsense > said", "failed: 1: apns-emulator explain nonsense"),
    ])
def test_each_command_must_succeed(tmp_path, text, told):
    page = "<!-- emulator -->\n\n    sleep 0\n\nThen:\n\n    " + text.replace("\n", "\n    ")
    if told == "nothing":
        page = page.replace("Then:", "<!-- fails -->")
    assert told in slip(page, tmp_path)


def test_what_an_article_leaves_open_and_what_not():
    assert re.fullmatch(pattern("a  … c\n…\nend"), "a  b c\none\ntwo\nend\n")
    assert re.fullmatch(pattern("a\n…"), "a\n")
    assert not re.fullmatch(pattern("a … c"), "a b d\n")
    assert not re.fullmatch(pattern("a"), "a\nb\n")
    assert not re.fullmatch(pattern("a.c"), "abc\n")
