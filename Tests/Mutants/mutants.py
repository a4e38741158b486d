"""Do the tests notice a fault? Draws statements of the sources, changes one at a time, and runs the tests on each.

    python3 mutants.py [--seed N] [--count N] [--modules Broker,…] [--list] [--full]

The draw depends on the seed and the sources alone, and is listed before the first run. Each change is made in a copy of this tree
under .build/mutants, and tried by the tests of its module, then by `make check`; with --full, what survives that is tried by `make test`.
A change that does not compile counts as none: the next of the draw takes its place. Ends with 1 if more than one in twenty survives.

Changes that no test could find, as they change nothing, are in `equivalent.txt` with the reason, and are not drawn."""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
COPY = os.path.join(ROOT, ".build", "mutants", "tree")
EQUIVALENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "equivalent.txt")
# Ten modules with rules in them, from the wire to the phone.
MODULES = ["Broker", "CourierWire", "Credentials", "Faults", "LegacyWire", "Phone", "ProviderAPI", "Storage", "Transport", "Zones"]
# Of each change that compiles there may be some that do not.
SPARE = 4
# In seconds: a test that waits for ever has noticed, too.
CHECK_TIMEOUT, TEST_TIMEOUT = 900, 3600


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int
    before: str
    after: str
    kind: str

    @property
    def module(self):
        return self.path.split("/")[1]

    def __str__(self):
        return f"{self.path}:{self.line}: {self.kind}\n    - {self.before.strip()}\n    + {self.after.strip() or '(nothing)'}"


def equivalents():
    """The path, the line and the changed line of each change that changes nothing. The line has to be there, and once: else its reason may be about another."""
    known = set()
    with open(EQUIVALENT) as file:
        blocks = file.read().split("\n\n")[1:]
    for block in blocks:
        path, before, after, *why = [line.strip() for line in block.strip().split("\n")]
        if not (before.startswith("- ") and after.startswith("+ ") and why):
            sys.exit(f"{EQUIVALENT}: expected a path, a line with -, one with + and why, got:\n{block}")
        with open(os.path.join(ROOT, path)) as file:
            count = [line.strip() for line in file.read().split("\n")].count(before[2:])
        if count != 1:
            sys.exit(f"{EQUIVALENT}: expected one line of {path} that is: {before[2:]}, got {count}")
        known.add((path, before[2:], after[2:]))
    return known


# What changes


def off_by_one(line):
    """A comparison that is true or false one step further, or a limit that is one more."""
    for found in re.finditer(r" (<=|>=|<|>) ", line):
        if line.count('"', 0, found.start()) % 2:
            continue
        other = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}[found[1]]
        yield line[: found.start(1)] + other + line[found.end(1):]
    if found := re.match(r"(\s*(?:package |public |private )?static let \w+(?:: Int)? = )(\d+)$", line):
        yield f"{found[1]}{int(found[2]) + 1}"


def swapped_branch(line):
    """A condition that is the opposite."""
    if found := re.match(r"(\s*(?:\} else )?(?:if|guard) )([^,{]+?)( else \{.*| \{.*)$", line):
        condition = found[2]
        if not re.search(r"\b(let|var|case)\b|#available", condition):
            yield f"{found[1]}!({condition}){found[3]}"


def dropped_call(line):
    """A call for what it does, left out."""
    if re.match(r"\s+(?:[a-z]\w*[?]?\.)*[a-z]\w*\([^{}]*\)$", line) and not re.match(r"\s+(return|throw|super|precondition|assert)\b", line):
        yield ""


KINDS = {"off by one": off_by_one, "swapped branch": swapped_branch, "dropped call": dropped_call}


def candidates(module):
    """All changes that could be made in a module, in the order of its sources."""
    paths = subprocess.run(
        ["git", "ls-files", f"Sources/{module}/*.swift"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for path in sorted(paths):
        with open(os.path.join(ROOT, path)) as file:
            lines = file.read().split("\n")
        for number, line in enumerate(lines, 1):
            code = line.strip()
            if not code or code.startswith(("//", "import", "case ", "@", '"')) or '"""' in line:
                continue
            for kind, change in KINDS.items():
                for after in change(line):
                    yield Mutant(path, number, line, after, kind)


def draw(modules, seed, count):
    """As many changes of each module and kind as come out even, and spare ones behind them."""
    chance = random.Random(seed)
    pools, known = {}, equivalents()
    for module in modules:
        for mutant in candidates(module):
            if (mutant.path, mutant.before.strip(), mutant.after.strip() or "(nothing)") in known:
                continue
            pools.setdefault((module, mutant.kind), []).append(mutant)
    for pool in pools.values():
        chance.shuffle(pool)
    order = [(module, kind) for kind in KINDS for module in modules]
    drawn = []
    while len(drawn) < count * SPARE and any(pools.values()):
        chance.shuffle(order)
        drawn += [pools[place].pop() for place in order if pools.get(place)]
    return drawn[: count * SPARE]


# Trying one


def prepare():
    """A copy of the tree, committed or not, whose builds go on from those before."""
    os.makedirs(COPY, exist_ok=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True).stdout
    wanted = {os.fsdecode(path) for path in listed.split(b"\0") if path and os.path.exists(os.path.join(ROOT, os.fsdecode(path)))}
    for folder, names, files in os.walk(COPY):
        names[:] = [name for name in names if name not in (".build", ".venv", ".git")]
        for name in files:
            path = os.path.relpath(os.path.join(folder, name), COPY)
            if path not in wanted:
                os.remove(os.path.join(COPY, path))
    for path in wanted:
        there, here = os.path.join(COPY, path), os.path.join(ROOT, path)
        if not os.path.exists(there) or open(there, "rb").read() != open(here, "rb").read():
            os.makedirs(os.path.dirname(there), exist_ok=True)
            shutil.copy2(here, there)


def replace(mutant, old, new):
    path = os.path.join(COPY, mutant.path)
    with open(path) as file:
        lines = file.read().split("\n")
    assert lines[mutant.line - 1] == old, f"{mutant.path}:{mutant.line} is not as it was drawn"
    lines[mutant.line - 1] = new
    with open(path, "w") as file:
        file.write("\n".join(lines))


def make(words, timeout):
    """Its exit status and what it said; a time that ran out counts as a failure."""
    process = subprocess.Popen(
        ["make", "--no-print-directory", *words.split()], cwd=COPY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        said, _ = process.communicate(timeout=timeout)
        return process.returncode, said
    except subprocess.TimeoutExpired:
        return 124, "no end within its time"
    finally:
        # Also where somebody ends this script: a change may have made an endless loop.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def outcome(mutant, full):
    """`does not compile`, `survived`, or what noticed it."""
    replace(mutant, mutant.before, mutant.after)
    steps = [(f"check ONLY={mutant.module}", CHECK_TIMEOUT), ("check", CHECK_TIMEOUT)]
    try:
        for words, timeout in steps + ([("test", TEST_TIMEOUT)] if full else []):
            status, said = make(words, timeout)
            if status != 0:
                first = re.search(r"^(✘ Test .*? recorded an issue.*|FAILED .*|.*Fatal error.*|.*unexpected signal.*|no end .*)$", said, re.M)
                if first is None and "error: " in said:
                    return "does not compile"
                return f"make {words}: {first[1][:150] if first else 'failed'}"
        return "survived"
    finally:
        replace(mutant, mutant.after, mutant.before)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=20, help="how many changes that compile are tried")
    arguments.add_argument("--modules", default=",".join(MODULES))
    arguments.add_argument("--list", action="store_true", help="draw and list, and try nothing")
    arguments.add_argument("--full", action="store_true", help="try by `make test` what survives `make check`")
    asked = arguments.parse_args()
    drawn = draw(asked.modules.split(","), asked.seed, asked.count)
    print(f"seed {asked.seed}: {asked.count} changes, and {len(drawn) - asked.count} in reserve")
    for number, mutant in enumerate(drawn, 1):
        print(f"{number:>3}  {mutant}", flush=True)
    if asked.list:
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended before its end"))
    prepare()
    status, said = make("check", 2 * CHECK_TIMEOUT)
    if status != 0:
        sys.exit(f"the tests fail without any change:\n{said[-2000:]}")
    tried, survivors = 0, []
    for number, mutant in enumerate(drawn, 1):
        if tried == asked.count:
            break
        began = time.monotonic()
        found = outcome(mutant, asked.full)
        print(f"{number:>3}  {time.monotonic() - began:4.0f} s  {found}", flush=True)
        tried += found != "does not compile"
        survivors += [mutant] if found == "survived" else []
    print(f"{tried} changes, {tried - len(survivors)} found")
    for mutant in survivors:
        print(f"survived: {mutant}")
    sys.exit(1 if len(survivors) * 20 > tried else 0)


if __name__ == "__main__":
    main()
