"""The tokens in the dashboard: whole tokens, the presenter view, and lists longer than a page."""

import re

import pytest

from harness import TOPIC
from test_dashboard import install, page, shot  # noqa: F401

# Whether nothing of an element is cut off or lies beyond the window.
WHOLE = """(element => element.scrollWidth <= element.clientWidth + 1 && (box => box.left >= 0 && box.right <= innerWidth)
    (element.getBoundingClientRect()))"""


def digits(page, selector):
    """The hexadecimal digits that an element shows, however they are grouped."""
    page.until(f"document.querySelector({selector!r})")
    return re.sub(r"\s", "", page.script(f"document.querySelector({selector!r}).innerText"))


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_the_list_shows_whole_tokens(page, emulator, width):
    page.resize(width, 844, is_mobile=width < 400)
    token = install(emulator)
    page.script("location.hash = '#tokens'")
    page.until("document.querySelector('td .token')")
    assert digits(page, "td .token") == token
    assert page.script(f"{WHOLE}(document.querySelector('td .token'))")
    assert page.script("document.documentElement.scrollWidth <= innerWidth")
    # In one line where there is room, in halves where there is less.
    height = page.script("document.querySelector('td .token').getBoundingClientRect().height / 17")
    assert round(height) in {1920: (1,), 1280: (1, 2), 390: (2, 4)}[width]
    shot(page, f"tokens-{width}")


@pytest.mark.parametrize("width, height", [(1280, 800), (1920, 1080), (390, 844)])
def test_the_presenter_view_shows_what_a_reinstall_changes(page, emulator, width, height):
    page.resize(width, height, is_mobile=width < 400)
    first = install(emulator)
    page.script(f"location.hash = '#tokens/{first}'")
    page.shows("HMAC-SHA256")
    page.click("Present", "section.card a")
    page.until("document.querySelectorAll('.digits').length === 1")
    assert digits(page, ".digits") == first
    shot(page, f"present-one-{width}")
    page.click("Reinstall", ".present button")
    page.until("document.querySelectorAll('.digits').length === 2")
    old, new = emulator.api("GET", "/api/v1/tokens?udid=phone")["tokens"]
    assert old["token"] == first != new["token"]
    assert digits(page, ".slide.old .digits") == first and digits(page, ".slide.new .digits") == new["token"]
    page.shows("1 → 2")
    differing = sum(left != right for left, right in zip(first, new["token"], strict=True))
    page.shows(f"{differing} of 64 digits")
    for slide in (".slide.old", ".slide.new"):
        assert page.script(f"{WHOLE}(document.querySelector('{slide} .digits'))")
    if width > 400:
        # Side by side, all of it without scrolling, in digits that a room can read.
        tops = page.script("[...document.querySelectorAll('.slide')].map(each => each.getBoundingClientRect().top)")
        assert tops[0] == tops[1]
        assert page.script("main.scrollHeight <= main.clientHeight")
        assert page.script("parseFloat(getComputedStyle(document.querySelector('.digits')).fontSize)") >= 36
    shot(page, f"present-two-{width}")
    # Somebody reinstalls it elsewhere, and the room sees it.
    third = emulator.api("POST", f"/api/v1/devices/phone/apps/{TOPIC}/reinstall")["token"]
    page.until(f"document.querySelector('.slide.new').innerText.replace(/\\s/g, '').includes('{third}')")
    # Any old one can be put beside the newest.
    page.press("Escape")
    page.until("location.hash === '#tokens'")
    page.script(f"location.hash = '#present/{first}'")
    page.until("document.querySelectorAll('.digits').length === 2")
    assert digits(page, ".slide.old .digits") == first and digits(page, ".slide.new .digits") == third


def test_the_presenter_view_of_nothing(page):
    page.script("location.hash = '#present'")
    page.shows("No token yet")
    page.script(f"location.hash = '#present/{'ab' * 32}'")
    page.shows("Unknown token")
    # A browser notes every 404.
    page.complaints.clear()
    page.click("Tokens", ".present a")
    page.until("location.hash === '#tokens'")


def test_more_tokens_than_a_page(page, emulator):
    for number in range(7):
        install(emulator, udid=f"phone-{number}")
    page.until("store.tokens.length === 7 && store.loading === null")
    page.script("location.hash = '#tokens'")
    page.script("limits.tokens = 3; tokenView.most = tokenView.step = 2; store.tokens = []; loadTokens()")
    for shown, loaded in ((2, 3), (4, 6), (6, 6), (7, 7)):
        page.until(f"document.querySelectorAll('tbody tr').length === {shown} && store.tokens.length === {loaded}")
        if loaded < 7:
            page.shows(f"{loaded} of 7 are loaded")
            page.click("Show more")
    assert [f"phone-{number}" in page.script("document.querySelector('tbody').innerText") for number in range(7)] == [True] * 7
    # What is loaded anew stays as long, and what comes by the stream is there once.
    page.script("loadAll()")
    install(emulator, udid="phone-7")
    page.until("store.loading === null && store.tokens.length === 8")


def test_more_devices_than_a_page(page, emulator):
    for number in range(5):
        install(emulator, udid=f"phone-{number}")
    page.script("limits.devices = 2; deviceView.step = 2; deviceView.most = 2; location.hash = '#devices'")
    for loaded in (2, 4, 5):
        page.until(f"document.querySelectorAll('section.card').length === {loaded}")
        if loaded < 5:
            page.shows(f"{loaded} of 5 are loaded")
            page.click("Show more")
    page.until("!document.querySelector('.row.more')")
