"""Tables that tests fill, which are told at the end of a run, also where other processes than the telling one ran the tests."""

# Lines by heading.
TABLES = {}
KEY = "tables"


def hand_over(config):
    """Called at the end of each process; only one that works for another has something to hand over to."""
    if TABLES and hasattr(config, "workeroutput"):
        config.workeroutput[KEY] = TABLES


def take_over(node):
    """What a process that has ended was told. One that crashed handed over nothing."""
    TABLES.update(getattr(node, "workeroutput", {}).get(KEY, {}))


def tell(reporter):
    for heading, lines in TABLES.items():
        reporter.section(heading)
        for line in lines:
            reporter.write_line(line)
