"""Articles that are read with the hands on the keyboard: what they say to type is typed, what they say comes must come."""

import contextlib
import re

import pytest

from articles import Player, blocks, pattern


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
