"""Documentation/libraries.md, from what the drills said."""

import textwrap

from shared_faults import OF_DEAD_TOKENS, TABLES

# So many clients make a fault one that many share.
MANY = 3
WIDTH = 140
HEAD = """# How libraries do in drills

This page is for whoever chooses a library for pushes, or writes a server around one. It shows what becomes of a batch of {pushes} pushes when
something goes wrong, with {count} clients that servers push with.

Each client is in a program of a few lines, written as the client's own documentation shows a batch, or one push in a loop where that is all
it shows. So the page shows what a client does by itself. A server around it may do more, and has to where the page says *reported*. To see
what yours does, put it to the same [drills](drills.md). The last rows of the tables for HTTP/2 are our own
[examples](../Examples/README.md), which see to more.

`make drills` wrote this page on {date}, with emulator {version}, {python} and {system}.
The versions are those that PyPI and Debian had; newer ones may do better. Where time decides, numbers differ from run to run.
"""
WORDS = """## Words

| word | what became of the batch |
|---|---|
| ok | Each phone has its notification, once. Where a connection broke amid the batch, twice is fine. |
| reported *n* | *n* pushes were not delivered, and the client told its caller which. The caller has to do the rest. |
| waits | The client waits until it is time to try again, which is right. |
| lost *n* | *n* pushes were not delivered, and the client did not say which. |
| error, lost *n* | The same, but the batch ended with an error. So its caller knows that some were lost. |
| doubled *n* | *n* pushes were delivered twice without need. |
| hangs | The program still ran when its [time](drills.md#command) was over: more than a minute. |
| slow | The program was not done in time, as it sends one push after the other. |
| fails | Something else is wrong; [below](#what-the-tables-leave-out) it says what. |
| – | The drill is not for this client: it is about provider tokens, and the client uses a certificate. |

The name of a drill leads to what it does, and to what is right.
"""


def cell(drill):
    """What a table says of a drill."""
    if drill is None:
        return "–"
    verdict, told = drill["verdict"], 0 if drill["id"] in OF_DEAD_TOKENS else drill["reported"]
    if verdict == "FAIL":
        reported = min(drill["lost"], told)
        counts = {"lost": drill["lost"] - reported, "reported": reported, "doubled": drill["doubled"]}
        ending = "error, " if drill["status"] and counts["lost"] else ""
        return ending + ", ".join(f"{word} {count}" for word, count in counts.items() if count) or "fails"
    if verdict == "ok" and (missing := min(told, drill["never"] + drill["refused"])):
        return f"reported {missing}"
    if verdict == "hangs" and drill["id"] == "slow-answers":
        return "slow"
    return {"waiting": "waits"}.get(verdict, verdict)


def is_failed(drill):
    return drill is not None and not drill["passed"]


def is_lost(drill):
    """Something came to grief of which the caller does not know."""
    return is_failed(drill) and not is_reported(drill)


def is_reported(drill):
    """All that was not delivered, and nothing else is wrong: the caller can make up for it."""
    return drill is not None and cell(drill).startswith("reported") and not drill["doubled"]


class Page:
    """`results` has a member for each client that could be drilled, `left_out` the reason for each other."""

    def __init__(self, results, left_out, facts):
        self.results, self.left_out, self.facts = results, left_out, facts

    @property
    def text(self):
        parts = [HEAD.format(count=len(self.libraries), **self.facts), self.clients, WORDS]
        parts += [self.chapter(table) for table in TABLES if any(each["protocol"] == table.protocol for each in self.results)]
        if notes := [line for each in self.results for line in self.notes(each)]:
            parts.append("## What the tables leave out\n\n" + "\n".join(notes) + "\n")
        if self.left_out:
            parts.append("## Left out\n\n" + "\n".join(
                filled(f"- {titled(each)} ({each['about']}): {each['why']}", "  ") for each in self.left_out) + "\n")
        return "\n".join(parts)

    @property
    def libraries(self):
        return [each for each in self.results if not each["isOurs"]]

    @property
    def clients(self):
        """A row for each client: what it is, and how many drills went how."""
        rows = []
        for each in sorted(self.results, key=lambda each: each["isOurs"]):
            reported = sum(map(is_reported, each["drills"]))
            lost = sum(map(is_lost, each["drills"]))
            counts = (len(each["drills"]) - reported - lost, reported, lost)
            rows.append(f"| {linked(each)} | {each['version'] or '–'} | {each['about']} | {' | '.join(map(str, counts))} |")
        return "\n".join([
            "## Clients\n", "Each name leads to the program. The numbers count drills: *ok* and *waits*, *reported*, and all others, which "
            "are bold below.\n",
            "| client | version | what it is | ok | reported | others |", "|---|---|---|---|---|---|", *rows, ""])

    def chapter(self, table):
        results = [each for each in self.results if each["protocol"] == table.protocol]
        ids = [id for id in table.drills if any(self.drill(each, id) for each in results)]
        head = "| client | " + " | ".join(f"[{id.removeprefix('binary-')}](drills.md#{id})" for id in ids) + " |"
        rows = [f"| {linked(each)} | " + " | ".join(marked(self.drill(each, id)) for id in ids) + " |" for each in results]
        return "\n".join([f"## {table.title}\n", head, "|---" * (len(ids) + 1) + "|", *rows, "", *self.shared(table)])

    @staticmethod
    def drill(result, id):
        return next((each for each in result["drills"] if each["id"] == id), None)

    def shared(self, table):
        """A paragraph for each fault that many clients share."""
        paragraphs = []
        for group in table.groups:
            put_to_it = [each for each in self.libraries if any(self.drill(each, id) for id in group.drills)]
            failed = [each["name"] for each in put_to_it if any(is_failed(self.drill(each, id)) for id in group.drills)]
            if len(failed) >= MANY:
                paragraphs.append(filled(f"**{group.title}** ({len(failed)} of {len(put_to_it)} clients). {group.text}") + "\n")
        return paragraphs

    @staticmethod
    def notes(result):
        """What one word does not tell."""
        return [filled(f"- {result['name']}, `{drill['id']}`: {drill['sentence']}.", "  ")
                for drill in result["drills"] if cell(drill) == "fails"]


def titled(result):
    return f"{result['name']} {result['version']}".strip()


def linked(result):
    return f"[{result['name']}](../{result['path']})"


def marked(drill):
    return f"**{cell(drill)}**" if is_lost(drill) else cell(drill)


def filled(text, indentation=""):
    return textwrap.fill(text, WIDTH, subsequent_indent=indentation, break_long_words=False, break_on_hyphens=False)
