"""What the address keeps: a reload, a link, back and forward lead to the same."""

import pytest

from test_dashboard import install, page, push  # noqa: F401


@pytest.fixture
def three(page, emulator):  # noqa: F811
    """Two pushes that are accepted, and one that is not."""
    token = install(emulator)
    sent = [push(emulator, token, {"aps": {"alert": text}})["id"] for text in ("Storm tonight", "Sun tomorrow")]
    sent.append(push(emulator, "ab" * 32, {"aps": {"alert": "Storm at nobody's"}})["id"])
    page.until("document.querySelectorAll('.item').length === 3")
    return sent


def search(page, text):  # noqa: F811
    page.script(f"(field => {{ field.value = {text!r}; field.dispatchEvent(new Event('input')) }})(document.getElementById('search'))")


def items(page, count):  # noqa: F811
    page.until(f"document.querySelectorAll('.item').length === {count}")


TAB = "document.querySelector('[role=tab][aria-selected=true]')?.textContent"


def test_a_reload_finds_search_filters_selection_and_tab(page, three):  # noqa: F811
    search(page, "storm")
    items(page, 2)
    page.script("(menu => { menu.value = 'accepted'; menu.dispatchEvent(new Event('change')) })(document.querySelector('[name=verdict]'))")
    items(page, 1)
    page.script("document.querySelector('.item').click()")
    page.shows("Edit and replay")
    page.click("Payload", "[role=tab]")
    assert page.script("location.hash") == f"#notifications/{three[0]}?q=storm&verdict=accepted&tab=payload"
    page.reload()
    page.until("document.getElementById('live')?.textContent === 'live' && document.querySelector('.item')")
    items(page, 1)
    page.until(f"{TAB} === 'Payload'")
    assert page.script("[document.getElementById('search').value, document.querySelector('[name=verdict]').value]") == ["storm", "accepted"]
    page.until("document.querySelector('.item[aria-selected=true]')?.innerText.includes('Storm tonight')")
    # As somebody finds it who comes back from another pane.
    page.script("location.hash = '#clock'")
    page.until("document.getElementById('clock-now')")
    page.click("Notifications\n3", "nav a")
    items(page, 1)
    assert page.script("location.hash") == "#notifications?q=storm&verdict=accepted"


def test_back_and_forward_go_through_what_was_chosen(page, three):  # noqa: F811
    page.script(f"document.getElementById('n{three[0]}').click()")
    page.shows("Edit and replay")
    page.click("Verdict", "[role=tab]")
    page.script(f"document.getElementById('n{three[2]}').click()")
    page.shows("BadDeviceToken")
    page.script("window.isTheSame = view.element")
    page.script("document.getElementById('list').focus()")
    for key in "jk":
        page.press(key)
    search(page, "s")
    search(page, "sun")
    items(page, 1)
    seen = [f"#notifications/{three[2]}?tab=verdict", f"#notifications/{three[0]}?tab=verdict", f"#notifications/{three[0]}"]
    for address in seen:
        page.script("history.back()")
        page.until(f"location.hash === '{address}'")
    items(page, 3)
    page.until(f"{TAB} === 'Preview' && view.selected === {three[0]}")
    assert page.script("document.getElementById('search').value") == ""
    for address in [*seen[1::-1], f"#notifications/{three[2]}?q=sun&tab=verdict"]:
        page.script("history.forward()")
        page.until(f"location.hash === '{address}'")
    items(page, 1)
    # The list was never made anew, so what was scrolled stays.
    assert page.script("window.isTheSame === view.element && document.getElementById('search').value") == "sun"


def test_the_token_map_keeps_search_and_token(page, emulator):  # noqa: F811
    # Names that no token holds, as the search looks there, too, and tokens are hexadecimal.
    tokens = [install(emulator, udid=udid) for udid in ("anna", "bob")]
    page.until("store.tokens.length === 2")
    page.script("location.hash = '#tokens'")
    page.until("document.querySelectorAll('tbody tr').length === 2")
    search(page, "anna")
    page.until("document.querySelectorAll('tbody tr').length === 1")
    page.script("document.querySelector('tr.pick').click()")
    page.shows("HMAC-SHA256")
    assert page.script("location.hash") == f"#tokens/{tokens[0]}?q=anna"
    page.reload()
    page.until("document.getElementById('live')?.textContent === 'live' && document.querySelector('tr.chosen')")
    page.shows("HMAC-SHA256")
    assert page.script("[document.getElementById('search').value, document.querySelectorAll('tr.pick').length].join()") == "anna,1"
    page.script("history.back()")
    page.until("location.hash === '#tokens?q=anna' && !document.querySelector('tr.chosen')")
    assert "HMAC-SHA256" not in page.text()
    page.script("location.hash = '#devices?q=bob'")
    page.until("document.querySelectorAll('section.card').length === 1")
    page.shows("bob")
