"""The dashboard in many tabs of one browser, which has six connections to a host; when the emulator goes and comes."""

import signal

import pytest

from browser import Browser
from test_dashboard import install, push

SHOWN = "[...store.notifications.values()].map(each => headline(each)).sort().join()"
LOADS = "performance.getEntriesByType('resource').filter(each => each.name.includes('/api/v1/notifications')).length"


@pytest.fixture
def browser():
    browser = Browser()
    yield browser
    thrown = [each for tab in (browser, *browser.tabs) for each in tab.complaints if "exceptionDetails" in each]
    browser.close()
    assert thrown == []


def url(emulator):
    return "http://%s:%s/" % emulator.address("console")


def open_tabs(browser, emulator, count):
    """So many tabs, each live with all that there is."""
    tabs = [browser] + [browser.new_tab() for _ in range(count - 1)]
    for tab in tabs:
        tab.resize(1280, 800)
        tab.open(url(emulator))
    for tab in tabs:
        tab.until("document.getElementById('live').textContent === 'live' && store.info")
    return tabs


def leader(tabs):
    return next(tab for tab in tabs if tab.script("stream.reads"))


def test_eight_tabs_share_one_stream(browser, emulator):
    token = install(emulator)
    tabs = open_tabs(browser, emulator, 8)
    assert [tab.script("stream.reads") for tab in tabs].count(True) == 1
    push(emulator, token, {"aps": {"alert": "to all tabs"}})
    for tab in tabs:
        tab.shows("to all tabs")
    # And there is a connection left to ask for more.
    for tab in tabs:
        tab.script("location.hash = '#connections'")
        tab.shows("Peer")


def test_the_next_tab_goes_on_where_the_closed_one_was(browser, emulator):
    token = install(emulator)
    tabs = open_tabs(browser, emulator, 4)
    sent = []
    for round in range(3):
        loads = {id(tab): tab.script(LOADS) for tab in tabs}
        reader = leader(tabs)
        for number in range(20):
            sent.append(f"round {round} number {number:02}")
            push(emulator, token, {"aps": {"alert": sent[-1]}})
            if number == 10:
                tabs.remove(reader)
                # The first tab holds the browser's connection for commands, and goes elsewhere instead.
                reader.open("about:blank") if reader is browser else reader.close()
        for tab in tabs:
            tab.until(f"{SHOWN} === {','.join(sorted(sent))!r}")
        # Nothing was lost, so nothing had to be loaded again.
        assert [tab.script(LOADS) for tab in tabs] == [loads[id(tab)] for tab in tabs]
    assert len(tabs) == 1 and tabs[0].script("stream.reads")


def test_a_frozen_tab_hands_over_and_catches_up(browser, emulator):
    token = install(emulator)
    first, *others = open_tabs(browser, emulator, 3)
    assert first.script("stream.reads")
    first.command("Page.setWebLifecycleState", state="frozen")
    push(emulator, token, {"aps": {"alert": "while it is frozen"}})
    for tab in others:
        tab.shows("while it is frozen")
    first.command("Page.setWebLifecycleState", state="active")
    first.shows("while it is frozen")
    push(emulator, token, {"aps": {"alert": "and after"}})
    for tab in (first, *others):
        tab.shows("and after")
    assert [tab.script("stream.reads") for tab in (first, *others)].count(True) == 1


def test_a_tab_that_does_not_answer_is_replaced(browser, emulator):
    """Suspended without having been told, as phones do: it holds the lock and reads nothing."""
    token = install(emulator)
    first, second = open_tabs(browser, emulator, 2)
    assert first.script("stream.reads")
    first.command("Debugger.enable")
    first.command("Debugger.pause")
    push(emulator, token, {"aps": {"alert": "while it stands still"}})
    second.script("document.dispatchEvent(new Event('visibilitychange'))")
    second.shows("while it stands still")
    # The list may be asked for anew before the other's silence is noticed.
    second.until("stream.reads")
    first.command("Debugger.disable")
    first.shows("while it stands still")
    first.until("!stream.reads")
    push(emulator, token, {"aps": {"alert": "and after"}})
    first.shows("and after")


def test_without_locks_a_tab_reads_while_it_is_looked_at(browser, emulator):
    """Beyond loopback and without TLS, browsers have no locks."""
    token = install(emulator)
    browser.command("Page.addScriptToEvaluateOnNewDocument", source="""
        delete Navigator.prototype.locks;
        Object.defineProperty(document, 'hidden', { get: () => window.isHidden === true });""")
    browser.open(url(emulator))
    browser.until("document.getElementById('live').textContent === 'live' && store.info")
    assert not browser.script("stream.isShared")
    browser.script("window.isHidden = true; document.dispatchEvent(new Event('visibilitychange'))")
    assert browser.script("stream.source") is None
    push(emulator, token, {"aps": {"alert": "unseen"}})
    browser.script("window.isHidden = false; document.dispatchEvent(new Event('visibilitychange'))")
    browser.shows("unseen")


def test_a_page_comes_back_from_the_memory_of_the_browser(browser, emulator):
    """Nothing that it holds open keeps it from being remembered, and it goes on from where it was."""
    token = install(emulator)
    browser.open(url(emulator))
    browser.until("document.getElementById('live').textContent === 'live' && store.info")
    browser.script("""addEventListener('pageshow', event => { window.wasRemembered = event.persisted; });
        window.isTheSame = true""")
    browser.open("about:blank")
    push(emulator, token, {"aps": {"alert": "while it was away"}})
    browser.back()
    browser.until("window.isTheSame && document.getElementById('live')?.textContent === 'live'")
    assert browser.script("window.wasRemembered")
    browser.shows("while it was away")
    push(emulator, token, {"aps": {"alert": "and now"}})
    browser.shows("and now")


def test_nothing_of_before_a_restart_stays(browser, emulator):
    """Numbers begin anew: old rows would stand above new ones."""
    port = emulator.address("console")[1]
    token = install(emulator)
    for number in range(5):
        push(emulator, token, {"aps": {"alert": f"before {number}"}})
    tabs = open_tabs(browser, emulator, 3)
    for tab in tabs:
        tab.shows("before 4")
    tabs[1].script("location.hash = '#notifications/5'")
    boot = emulator.api("GET", "/api/v1/info")["boot"]
    emulator.stop()
    for tab in tabs:
        tab.shows("The connection to the emulator is lost")
    emulator.start("--console-port", str(port))
    assert emulator.api("GET", "/api/v1/info")["boot"] != boot
    push(emulator, token, {"aps": {"alert": "after"}})
    for tab in tabs:
        tab.until(f"{SHOWN} === 'after' && document.querySelectorAll('.item').length === 1")
        tab.until("!notices.has('trouble')")
        assert "The emulator was restarted" in tab.text() and "before" not in tab.script("view.canvas.innerText")
    assert tabs[1].script("view.selected") is None


def test_a_restart_unnoticed_by_the_stream_is_noticed(browser, emulator):
    """As when the lid was closed: the page was away while the emulator was started again."""
    port = emulator.address("console")[1]
    token = install(emulator)
    push(emulator, token, {"aps": {"alert": "before"}})
    [tab] = open_tabs(browser, emulator, 1)
    tab.shows("before")
    tab.script("leaveStream()")
    emulator.stop()
    emulator.start("--console-port", str(port))
    for number in range(3):
        push(emulator, token, {"aps": {"alert": f"after {number}"}})
    tab.script("joinStream()")
    tab.until(f"{SHOWN} === 'after 0,after 1,after 2'")


def test_an_emulator_that_does_not_answer_is_said_and_tried_again(browser, emulator):
    install(emulator)
    [tab] = open_tabs(browser, emulator, 1)
    tab.script("limits.answer = 200")
    panes = (("#feedback", "Nothing to report"), ("#devices", "phone"))
    for pane, there in panes:
        emulator.process.send_signal(signal.SIGSTOP)
        tab.script(f"location.hash = '{pane}'")
        tab.shows("No answer")
        tab.shows("did not answer within 200 ms")
        emulator.process.send_signal(signal.SIGCONT)
        tab.script("limits.answer = 10000")
        tab.click("Try again", "main button")
        tab.shows(there)
        tab.script("store.devices = null; limits.answer = 200")
    emulator.process.send_signal(signal.SIGSTOP)
    tab.script("loadAll()")
    tab.until("document.querySelector('.notice.trouble')")
    emulator.process.send_signal(signal.SIGCONT)
    tab.script("limits.answer = 10000")
    tab.click("Try again", ".notice button")
    tab.until("!document.querySelector('.notice.trouble')")


def test_what_happens_while_a_list_is_loaded_is_not_lost(browser, emulator):
    """The answer under way is older than what the stream tells meanwhile."""
    token = install(emulator)
    sent = push(emulator, token, {"aps": {"alert": "changes"}})
    [tab] = open_tabs(browser, emulator, 1)
    tab.shows("changes")
    tab.script("""(() => {
        const real = fetch;
        window.fetch = async (path, options) => {
            const answer = await real(path, options);
            if (path.startsWith('/api/v1/notifications?')) await new Promise(done => { window.goOn = done; });
            return answer;
        };
        loadAll();
    })()""")
    tab.until("window.goOn")
    later = push(emulator, token, {"aps": {"alert": "replaces it"}})
    tab.until(f"store.notifications.get({sent['id']}).state === 'replaced' && store.notifications.has({later['id']})")
    tab.script("goOn()")
    tab.until("store.loading === null")
    assert tab.script(f"store.notifications.get({sent['id']}).state") == "replaced"
    assert tab.script(f"store.notifications.has({later['id']})")
