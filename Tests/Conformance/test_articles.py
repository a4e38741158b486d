"""Articles that are read with the hands on the keyboard: what they say to type is typed, what they say comes must come."""

import contextlib
import os
import re

import pytest

from articles import FOLDER, Player, blocks, pattern


@pytest.mark.parametrize("name", ["tutorial.md", "from-binary-to-http2.md"])
def test_an_article_is_true(stopped_emulator, name):
    emulator = stopped_emulator
    if not any(tag == "emulator" for _, _, tag, _ in blocks(name)):
        emulator.start()
    with contextlib.closing(Player(emulator, name)) as player:
        typed, compared = player.play()
    assert typed >= 5 and compared >= 4


def test_what_an_article_leaves_open_and_what_not():
    assert re.fullmatch(pattern("a  … c\n…\nend"), "a  b c\none\ntwo\nend\n")
    assert re.fullmatch(pattern("a\n…"), "a\n")
    assert not re.fullmatch(pattern("a … c"), "a b d\n")
    assert not re.fullmatch(pattern("a"), "a\nb\n")
    assert not re.fullmatch(pattern("a.c"), "abc\n")


def test_sequence_diagrams_can_be_drawn():
    """By the part of Mermaid's grammar that they use. A semicolon would end a statement, and the diagram with it."""
    with open(os.path.join(FOLDER, "sequences.md")) as file:
        diagrams = re.findall(r"```mermaid\n(.*?)```", file.read(), re.DOTALL)
    assert len(diagrams) >= 8
    for diagram in diagrams:
        first, *lines = diagram.splitlines()
        known, open_blocks = set(), 0
        assert first == "sequenceDiagram"
        for line in map(str.strip, lines):
            assert not set(line) & set(";#"), line
            if declared := re.fullmatch(r"participant (\w+)(?: as .+)?", line):
                known.add(declared[1])
            elif said := re.fullmatch(r"(\w+)(?:->>|-->>|--x)(\w+): .+", line):
                assert {said[1], said[2]} <= known, line
            elif noted := re.fullmatch(r"Note over (\w+): .+", line):
                assert noted[1] in known, line
            elif re.fullmatch(r"(loop|par) .+", line):
                open_blocks += 1
            elif line == "end":
                open_blocks -= 1
            else:
                assert line == "and" and open_blocks, line
        assert len(known) >= 3 and open_blocks == 0
