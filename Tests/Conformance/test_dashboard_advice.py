"""The pane Advice of the dashboard: findings by severity, which open, and what is said of a provider that does all well."""

import pytest

from harness import TOPIC, eventually
from test_dashboard import install, page, shot  # noqa: F401
from wrong_provider import lose

COUNT = "document.querySelector('nav a[href=\"#advice\"] .count')?.innerText"
OPEN = "[...document.querySelectorAll('details.advice[open] summary strong')].map(each => each.innerText)"


@pytest.fixture
def lost(page, emulator):  # noqa: F811
    """Nine pushes are lost, and it is known; answers what the API says of it."""
    lose(emulator, install(emulator), 9, *emulator.push_certificate())

    def told():
        return emulator.api("GET", "/api/v1/advice?id=lost-after-error")["findings"]

    return eventually(told, "it is told what was lost")[0]


def open_pane(page):  # noqa: F811
    page.script("location.hash = '#advice'")
    page.until("document.querySelector('nav [aria-current]').hash.startsWith('#advice') && !document.body.innerText.includes('Loading')")


def test_without_findings_it_says_how_many_pushes_it_has_seen(page, emulator):  # noqa: F811
    open_pane(page)
    page.shows("Nothing to say about 0 pushes")
    assert "Point your provider at this emulator" in page.text() and not page.script(f"Boolean({COUNT})")
    token = install(emulator)
    emulator.api("POST", "/api/v1/push", {"token": token, "topic": TOPIC, "payload": {"aps": {"alert": "Hello"}}})
    page.shows("Nothing to say about 1 push")
    shot(page, "advice-empty")


def test_a_finding_comes_by_itself_and_is_counted_in_the_navigation(page, lost):  # noqa: F811
    page.until(f"{COUNT} >= 1")
    open_pane(page)
    page.shows("Errors 1")
    text = page.script("document.querySelector('section[aria-label=Errors]').innerText")
    assert "lost-after-error" in text and lost["sentence"] in text and TOPIC in text
    assert lost["remedy"] not in page.text() and page.script(OPEN) == []


def test_a_finding_opens_and_stays_open(page, lost, emulator):  # noqa: F811
    open_pane(page)
    page.shows("lost-after-error")
    page.script("document.querySelector('details.advice summary').focus()")
    page.press("Enter")
    page.shows(lost["remedy"])
    assert page.script(OPEN) == ["lost-after-error"] and page.script("location.hash") == "#advice/lost-after-error"
    shown = page.script("document.querySelector('details.advice').innerText")
    assert "9 times on 1 connection" in shown and "Documentation/advice.md#lost-after-error" in shown
    links = page.script("[...document.querySelectorAll('details.advice dd a')].map(each => each.hash)")
    assert links == [f"#notifications/{id}" for id in lost["notifications"]]
    shot(page, "advice")
    # Another one of the kind draws it anew.
    lose(emulator, install(emulator, "tablet"), 5, *emulator.push_certificate())
    page.shows("14 times on 2 connections")
    assert page.script(OPEN) == ["lost-after-error"] and page.script("document.activeElement.tagName") == "SUMMARY"
    # A reload shows the same.
    page.reload()
    page.shows(lost["remedy"])
    assert page.script(OPEN) == ["lost-after-error"]


def test_an_example_leads_to_its_notification(page, emulator):  # noqa: F811
    token = install(emulator)
    for _ in range(3):
        # Each time the same bad token is first.
        lose(emulator, token, 1, *emulator.push_certificate())
    open_pane(page)
    page.shows("pushes-to-bad-token")
    page.click("pushes-to-bad-token", "summary strong")
    page.until("document.querySelector('details.advice[open] dd a')")
    page.script("document.querySelector('details.advice[open] dd a').click()")
    page.shows("Edit and replay")
    assert "BadDeviceToken" in page.text()


def test_what_is_cleared_is_gone(page, lost, emulator):  # noqa: F811
    open_pane(page)
    page.shows("lost-after-error")
    page.click("Clear")
    page.click("Clear", "dialog button")
    page.shows("Nothing to say about 0 pushes")
    assert emulator.api("GET", "/api/v1/advice")["findings"] == [] and not page.script(f"Boolean({COUNT})")


def test_by_keys_and_on_a_phone(page, lost):  # noqa: F811
    page.resize(390, 844, is_mobile=True)
    page.prefer("dark")
    page.press("g")
    page.press("a")
    page.shows("lost-after-error")
    fits = "document.documentElement.scrollWidth <= innerWidth && document.querySelector('main').scrollWidth <= innerWidth"
    assert page.script(fits), "as a closed finding is too wide"
    page.script("document.querySelector('details.advice summary').click()")
    page.shows(lost["remedy"])
    assert page.script(fits)
    shot(page, "advice-narrow-dark")
