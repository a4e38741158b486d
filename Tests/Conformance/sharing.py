"""How several processes share the tests, which wait more than they work."""

import os

from xdist.scheduler import LoadScopeScheduling

HERE = os.path.dirname(os.path.abspath(__file__))
# What looks through the browser, which alone keeps a processor busy: one after the other.
BROWSER = ("test_dashboard", "test_docs", "test_screenshots")
# Tests of these have nothing in common and take long: each goes to whoever is free.
APART = ("test_api", "test_provider_drilled", "test_documentation", "hostile/test_hostile", "torture/test_torture")
# Begun first, as they take longest; the order of the others does not matter.
LONGEST = BROWSER + ("provider/test_providers", *APART, "test_cluster", "test_crash", "soak/test_soak")


def name_of(path):
    """Of a test's file, as seen from here and without its suffix."""
    return os.path.splitext(os.path.relpath(path, HERE))[0]


def rank_of(item):
    """For the order of all tests, which keeps that within a file."""
    name = name_of(item.path)
    return next((rank for rank, longest in enumerate(LONGEST) if name.startswith(longest)), len(LONGEST))


class Sharing(LoadScopeScheduling):
    def _split_scope(self, nodeid):
        """What stays together in one process: what a file's tests share is then set up once."""
        name = name_of(self.config.rootpath / nodeid.split("::")[0])
        if name.startswith(BROWSER):
            return "browser"
        return nodeid if name in APART else name
