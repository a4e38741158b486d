"""What axe-core, the usual check of accessibility, finds on every pane: nothing (WCAG 2.2, levels A and AA)."""

import importlib.util
import json
import os

import pytest

from harness import TOPIC
from phone_scenes import SCENES, scene
from test_dashboard import page  # noqa: F401
from test_screenshots import PANES, populate

# Best practices too: heads of tables without text are none of WCAG's.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# One is off: it takes panes that are scrolled out of a narrow window (#tokens) for links that skip to something.
# Each scheme and each width: what one is wrong in does not depend on the other.
LOOKS = (("light", 1280), ("dark", 390))


@pytest.fixture(scope="module")
def axe():
    [folder] = importlib.util.find_spec("axe_playwright_python").submodule_search_locations
    with open(os.path.join(folder, "axe.min.js"), encoding="utf-8") as file:
        return file.read()


@pytest.fixture
def check(page, axe):  # noqa: F811
    """Looks at what is shown, in the scheme and width that it is shown in."""
    def look(what):
        page.script(f"window.axe || (() => {{ {axe} }})(), 0")
        found = page.script("""document.fonts.ready.then(() => Promise.all(document.getAnimations().filter(each => each.effect.getTiming().iterations === 1).map(each => each.finished.catch(() => 0))))
            .then(() => axe.run(document, { runOnly: %s, resultTypes: ['violations'],
                rules: { 'skip-link': { enabled: false } } })).then(({ violations }) => violations
                .map(each => [each.id, each.nodes.map(node => node.html.slice(0, 160) + ' ' + (node.any[0]?.message || ''))]))"""
                            % json.dumps(RULES))
        return [f"{what}: {json.dumps(found, indent=1, ensure_ascii=False)}"] if found else []

    return look


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing(page, emulator, check, scheme, width):  # noqa: F811
    page.resize(width, 844, is_mobile=width < 400)
    page.prefer(scheme)
    found = []

    def look(what):
        found.extend(check(what))

    def go(place, shown):
        page.script(f"location.hash = '#{place}'")
        page.until(f"({shown}) && !document.body.innerText.includes('Loading')")

    def all_panes(state):
        for pane in PANES:
            go(pane, f"document.querySelector('nav [aria-current]')?.hash === '#{pane}'")
            look(f"{state} {pane}")

    look("empty list")
    all_panes("empty")
    shown, token, device = populate(emulator)
    page.script("loadAll()")
    go("notifications", "document.querySelectorAll('.item').length > 5")
    look("list")
    go(f"notifications/{shown}", "document.querySelector('[role=tablist]')")
    for tab in ("Preview", "Payload", "Headers", "Raw", "Verdict", "Timeline"):
        page.click(tab, "[role=tab]")
        page.until("!document.getElementById('panel').innerText.includes('Loading')")
        look(f"detail {tab}")
    all_panes("full")
    go(f"tokens/{token}", "document.body.innerText.includes('HMAC-SHA256')")
    look("token")
    go(f"present/{token}", "document.querySelectorAll('.digits').length === 1")
    look("presenter view")
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{TOPIC}/reinstall")
    page.until("document.querySelectorAll('.digits').length === 2")
    look("presenter view, two")
    go("faults", "document.body.innerText.includes('No fault rules')")
    page.until("document.querySelector('.fault-editor')")
    page.click("slow")
    page.click("Add")
    page.shows("0 of 0")
    page.script("for (const name of ['legacy', 'goaway', 'dribble', 'refuse']) document.getElementById(`fault-effect.${name}`).click()")
    page.click("Replace")
    page.until("document.querySelectorAll('.problem:not([hidden])').length > 1")
    look("a rule, and one with all that can be wrong")
    page.script("notice('anew', h('span', {}, 'anew'), button('Dismiss', () => {})); trouble(new Unreachable('away')); toast('said')")
    look("notices")
    page.script("notice('anew'); notice('trouble'); helpDialog()")
    look("help")
    page.script("document.querySelector('dialog').close(); resetDialog()")
    look("reset")
    page.script("document.querySelector('dialog').close()")
    device.stop()
    page.complaints.clear()
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_axe_finds_nothing_on_the_phone(page, check, scheme, width):  # noqa: F811
    page.resize(width, 844, is_mobile=width < 400)
    page.prefer(scheme)
    found = []
    for name in SCENES:
        scene(page, name)
        found.extend(check(f"phone {name}"))
    scene(page, "expanded")
    page.script("document.querySelector('[data-key=action-ask]').click()")
    found.extend(check("phone reply"))
    assert not found, "\n".join(found)
