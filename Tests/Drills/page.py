"""Documentation/libraries.md, from what the drills said."""

import textwrap

from shared_faults import GROUPS, OF_DEAD_TOKENS

# So many clients make a fault one that many share.
MANY = 3
WIDTH = 140
HEAD = """# How libraries do in drills

What becomes of a batch of {pushes} pushes when something goes wrong, with {libraries} clients that servers use to push. Each is in a program of
a few lines, written as the client's own documentation shows it, in [Tests/Drills/programs](../Tests/Drills/programs). A program around a
client may do more: the programs here show what a client does by itself. To try your own, see [drills](drills.md).

`make drills` has written this page on {date}, with the emulator at version {version}, {python} and {system}.

| word | what became of the batch |
|---|---|
| ok | Each phone has its notification, once. Where a connection was lost in between, twice is fine. |
| reported *n* | *n* pushes were not delivered, and the client told its caller, who has to send them again. |
| lost *n* | *n* pushes were not delivered, and the client did not say which. |
| waits | The client waits until it is time to try again, which is right. |
| doubled *n* | *n* pushes were delivered twice without need. |
| hangs | The program did not end. |
| fails | Something else is wrong; [below](#each-client) it says what. |
| untold | Pushes were not delivered, and nobody can know whether the client has noticed. |
| – | The drill is not for this client. |
"""


def cell(drill):
    """What the table says of a drill."""
    if drill is None:
        return "–"
    verdict, told = drill["verdict"], 0 if drill["id"] in OF_DEAD_TOKENS else drill["reported"]
    if verdict == "FAIL":
        reported = min(drill["lost"], told)
        counts = {"lost": drill["lost"] - reported, "reported": reported, "doubled": drill["doubled"]}
        return ", ".join(f"{word} {count}" for word, count in counts.items() if count) or "fails"
    if verdict == "ok" and (missing := min(told, drill["never"] + drill["refused"])):
        return f"reported {missing}"
    return {"waiting": "waits"}.get(verdict, verdict)


def is_failed(drill):
    return drill is not None and not drill["passed"]


class Page:
    """`results` has a member for each client that could be drilled, `left_out` the reason for each other."""

    def __init__(self, results, left_out, facts):
        self.results, self.left_out, self.facts = results, left_out, facts

    @property
    def text(self):
        tables = [
            ("HTTP/2", [each for each in self.results if each["protocol"] == "http2"]),
            ("The binary protocol", [each for each in self.results if each["protocol"] == "binary"])]
        libraries = [each for each in self.results if not each["isOurs"]]
        parts = [HEAD.format(libraries=len(libraries), **self.facts)]
        for title, results in tables:
            if results:
                parts.append(f"## {title}\n\n{self.table(results)}\n")
        if shared := self.shared(libraries):
            parts.append("## What many share\n\n" + shared)
        parts.append("## Each client\n\n" + "\n".join(map(self.section, self.results)))
        if self.left_out:
            parts.append("## Left out\n\n" + "\n".join(
                f"- {each['name']} {each['version']} ({each['about']}): {each['why']}".replace("  ", " ") for each in self.left_out) + "\n")
        return "\n".join(parts)

    def table(self, results):
        """A row for each drill, a column for each client."""
        ids = []
        for result in results:
            ids += [drill["id"] for drill in result["drills"] if drill["id"] not in ids]
        head = "| drill | " + " | ".join(f"[{each['name']}](#{anchor(each)})" for each in results) + " |"
        rows = [
            f"| [{id}](drills.md#{id}) | " + " | ".join(cell(self.drill(result, id)) for result in results) + " |" for id in ids]
        return "\n".join([head, "|---" * (len(results) + 1) + "|", *rows])

    @staticmethod
    def drill(result, id):
        return next((each for each in result["drills"] if each["id"] == id), None)

    def shared(self, libraries):
        """A paragraph for each fault that many clients share."""
        paragraphs = []
        for group in GROUPS:
            put_to_it = [each for each in libraries if any(self.drill(each, id) for id in group.drills)]
            failed = [each["name"] for each in put_to_it if any(is_failed(self.drill(each, id)) for id in group.drills)]
            if len(failed) >= MANY:
                text = f"**{group.title}** ({len(failed)} of {len(put_to_it)}: {', '.join(failed)}). {group.text}"
                paragraphs.append(filled(text) + "\n")
        return "\n".join(paragraphs)

    def section(self, result):
        title = f"### {result['name']}"
        failed = [drill for drill in result["drills"] if is_failed(drill)]
        program = f"[the program](../{result['path']})"
        version = f" {result['version']}" if result["version"] else ""
        intro = f"{result['name']}{version}: {result['about']}; {program}. {len(result['drills']) - len(failed)} of " + (
            f"{len(result['drills'])} drills passed.")
        lines = [filled(f"- `{drill['id']}`: {drill['sentence']}", "  ") for drill in failed]
        return "\n".join([title, "", filled(intro), *([""] if lines else []), *lines, ""])


def anchor(result):
    return "".join(letter for letter in result["name"].lower().replace(" ", "-") if letter.isalnum() or letter in "-_")


def filled(text, indentation=""):
    return textwrap.fill(text, WIDTH, subsequent_indent=indentation, break_long_words=False, break_on_hyphens=False)
