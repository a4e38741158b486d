"""The pages of the documentation, and their blocks.

What is to be done with a block stands behind the language of its fence, or in a comment before it, as `<!-- fails -->`:

```sh                     or indented: typed in the first terminal, in one shell from top to bottom; every command must succeed
fails                     a command of the block must fail
second terminal           typed in that terminal, or in one of another name (phone terminal), whose program gets Ctrl-C before, and
                          goes on beside all that follows
second terminal, once it says TEXT
                          what follows waits for that
emulator                  the same in the emulator's terminal, once it says `ready`. A page that does not begin with one has one
each in a terminal        the same of each line in a terminal of its own, after Ctrl-C in all others
```text                   all that the block before has printed; … is anything within a line, and alone any lines
text, second terminal     lines that come there, in this order, with others between them
file NAME                 is written into a file
```json                   is parsed; … is anything
as FILE                   and has just the members of the JSON in that file
```python, js, cjs        run, by pytest where it has tests
```mermaid                can be drawn
not typed: REASON         nobody can; a test that the reason names must be there
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]
NAMES = ["README.md", "Examples/README.md", *sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("Documentation/*.md"))]
COMMENT = re.compile(r"<!-- (.*) -->")
FENCE = re.compile(r"```(\w*)(?: (.*))?")
TERMINAL = r"emulator|\w+ terminal|each in a terminal"
TAGS = {
    "sh": rf"fails|({TERMINAL})(, once it says .+)?|file \S+",
    "text": r"\w+ terminal|emulator",
    "json": r"as \S+|file \S+",
    "python": "file \\S+", "js": "file \\S+", "cjs": "file \\S+", "mermaid": "",
}


class Slip(Exception):
    """What is wrong with a page, with its name and line."""


@dataclasses.dataclass
class Block:
    place: str
    language: str
    tag: str
    text: str

    @property
    def reason(self):
        """Why nobody types it; None if it is typed."""
        return self.tag.removeprefix("not typed: ") if self.tag.startswith("not typed: ") else None


def blocks(name, text=None):
    """Those of a page, each with what is to be done with it."""
    lines = ((ROOT / name).read_text() if text is None else text).splitlines()
    found, mark, number = [], None, 0
    while number < len(lines):
        line, place = lines[number], f"{name}:{number + 1}"
        if comment := COMMENT.fullmatch(line):
            _no_stale(mark)
            mark = (place, comment[1])
        elif fence := FENCE.fullmatch(line):
            if "```" not in lines[number + 1:]:
                raise Slip(f"{place}: a block without end")
            end = lines.index("```", number + 1)
            found.append(_block(place, fence[1], fence[2] or "", lines[number + 1:end], mark))
            mark, number = None, end
        elif line.startswith("    ") and (number == 0 or not lines[number - 1]):
            end = next((at for at in range(number, len(lines)) if lines[at] and not lines[at].startswith("    ")), len(lines))
            found.append(_block(place, "sh", "", [each[4:] for each in lines[number:end]], mark))
            mark, number = None, end - 1
        elif line:
            _no_stale(mark)
            mark = None
        number += 1
    _no_stale(mark)
    return found


def _no_stale(mark):
    if mark:
        raise Slip(f"{mark[0]}: {mark[1]!r} is of no block: a block must follow")


def _block(place, language, tag, lines, mark):
    if tag and mark:
        raise Slip(f"{place}: what is to be done with the block is said twice, {tag!r} and {mark[1]!r}")
    block = Block(place, language, tag or (mark[1] if mark else ""), "\n".join(lines).strip("\n"))
    if block.reason is None and not (language in TAGS and re.fullmatch(f"(?:{TAGS[language]})?", block.tag)):
        raise Slip(f"{place}: nobody knows how to type a block of {language or 'no language'} marked {block.tag!r}; say "
                   "<!-- not typed: REASON --> before it if that can't be done")
    for test in re.findall(r"\b(?:test_\w+|\w+Tests)\b", block.reason or ""):
        if not any(True for folder in ("Tests", ".packaging") for _ in (ROOT / folder).rglob(f"{test}.*")):
            raise Slip(f"{place}: there is no {test}")
    return block


def pattern(expected):
    """A regular expression for what an article says comes."""
    lines = []
    for line in expected.splitlines():
        if line == "…":
            lines.append(r"(?:.*\n)*")
        else:
            lines.append(".*".join(re.escape(part) for part in re.split(" *… *", line)) + r" *\n")
    return "".join(lines)


def check_diagram(block):
    """By the part of Mermaid's grammar that the pages use. A semicolon would end a statement, and the diagram with it."""
    first, *lines = block.text.splitlines()
    known, depth = set(), 0
    for line in map(str.strip, lines):
        if declared := re.fullmatch(r"participant (\w+)(?: as .+)?", line):
            known.add(declared[1])
        elif said := re.fullmatch(r"(\w+)(?:->>|-->>|--x)(\w+): .+|Note over (\w+): .+", line):
            if unknown := {*said.groups()} - known - {None}:
                raise Slip(f"{block.place}: nobody has declared {', '.join(unknown)}, in {line!r}")
        elif re.fullmatch(r"(loop|par) .+", line):
            depth += 1
        elif line == "end" and depth:
            depth -= 1
        elif line != "and" or not depth:
            raise Slip(f"{block.place}: can't draw {line!r}")
        if set(line) & set(";#"):
            raise Slip(f"{block.place}: a statement ends at ; and #, in {line!r}")
    if first != "sequenceDiagram" or len(known) < 3 or depth:
        raise Slip(f"{block.place}: no sequence of three and more, or a loop without end")
