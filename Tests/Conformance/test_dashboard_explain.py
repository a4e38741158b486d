"""The pane that explains a payload as it is written, and the preview, which goes by the same rules."""

import base64
import json

from test_dashboard import install, open_detail, page, push  # noqa: F401

RULES = "[...document.querySelectorAll('.finding .rule')].map(each => each.innerText)"
EVENTS = "[...document.querySelectorAll('.outcome .happening strong')].map(each => each.innerText)"


def go(page, argument=""):
    page.script(f"location.hash = '#explain{argument}'")
    page.until("document.querySelector('.outcome .happening')")


def write(page, text):
    """As a person does, who pastes."""
    page.script(f"""(() => {{ const editor = document.getElementById('explain-payload');
        editor.value = {json.dumps(text)}; editor.dispatchEvent(new Event('input', {{ bubbles: true }})) }})()""")


def choose(page, name, value):
    page.script(f"""(() => {{ const menu = document.querySelector('main select[name={name}]');
        menu.value = {json.dumps(value)}; menu.dispatchEvent(new Event('change')) }})()""")


def test_it_explains_as_one_types(page):
    go(page)
    page.shows("No mistakes found")
    assert page.script(EVENTS)[0] == "Presented"
    page.script("document.getElementById('explain-payload').select()")
    for key in '{"aps":{"titel":1}}':
        page.press(key)
    page.until(f"{RULES}.includes('unknown-key')")
    page.shows("Nothing appears")
    # The place of a finding leads to it.
    page.click("aps.titel")
    assert page.script("""(editor => editor.value.slice(editor.selectionStart, editor.selectionEnd))
        (document.getElementById('explain-payload'))""") == '"titel"'
    write(page, '{"aps":')
    page.until(f"{RULES}.includes('not-json')")


def test_the_phone_is_chosen(page):
    go(page)
    write(page, '{"aps":{"content-available":1}}')
    choose(page, "pushType", "background")
    choose(page, "priority", "5")
    page.until(f"{EVENTS}.includes('Callback')")
    choose(page, "appState", "force-quit")
    page.until(f"{EVENTS}.join() === 'Dropped'")
    page.shows("silent-force-quit")
    assert "why not" in page.text()
    choose(page, "priority", "10")
    page.until(f"{RULES}.join() === 'background-priority'")
    # Somebody who comes back finds it as it was.
    page.script("location.hash = '#clock'")
    page.until("document.getElementById('clock-now')")
    go(page)
    assert page.script("document.getElementById('explain-payload').value") == '{"aps":{"content-available":1}}'


def test_it_says_what_the_command_says(page, emulator):
    payload = '{"aps":{"alert":{"title":"T","body":"B"},"mutable-content":1,"badge":3}}'
    answer = emulator.api("POST", "/api/v1/explain", {"payload": payload, "pushType": "alert", "appState": "foreground"})
    go(page)
    write(page, payload)
    choose(page, "appState", "foreground")
    rules = [event["rule"] for event in answer["onArrival"] + answer["onTap"]]
    page.until(f"""[...document.querySelectorAll('.outcome .rule')].map(each => each.innerText).join() === '{",".join(rules)}'""")
    assert "the icon has the badge 3" in page.text()


def test_a_call_and_a_live_activity_are_drawn(page):
    go(page)
    page.click("Call")
    page.until("document.querySelector('.outcome .caller')?.innerText === 'Ada Lovelace'")
    page.shows("The app reports a call")
    page.click("Silent with a sound")
    page.shows("Nothing appears; a sound plays")
    page.click("Live Activity")
    page.until("document.querySelector('.outcome .activity')?.innerText.includes('15:40')")
    page.shows("A Live Activity")


def test_the_preview_knows_a_silent_push(page, emulator):
    """An empty alert is none: beside content-available the push is a silent one."""
    token = install(emulator)
    silent = push(emulator, token, {"aps": {"alert": "", "content-available": 1}}, pushType="background", priority=5)
    open_detail(page, silent)
    page.until("document.querySelector('#panel .happening')")
    assert page.script("document.querySelector('#panel .handset .note')") is None
    page.shows("silent-fetch")
    page.shows("Nothing appears")
    seen = push(emulator, token, {"aps": {"alert": "Hello"}})
    open_detail(page, seen)
    page.until("document.querySelector('#panel .handset .note')?.innerText.includes('Hello')")
    # From there to the editor, with what the provider said.
    page.click("Explain", "#panel a")
    page.until(f"location.hash === '#explain/{seen['id']}' && document.querySelector('.outcome .happening')")
    assert json.loads(page.script("document.getElementById('explain-payload').value")) == {"aps": {"alert": "Hello"}}


def test_an_address_with_more_or_of_nothing(page, emulator):
    """What an address has behind its ? is not the number's; what went wrong at one is away at the next."""
    sent = push(emulator, install(emulator), {"aps": {"alert": "Hello"}})
    page.script(f"location.hash = '#explain/{sent['id']}?from=mail'")
    page.until("document.getElementById('explain-payload')?.value.includes('Hello')")
    page.script("location.hash = '#explain/999'")
    page.until("document.getElementById('problem-explain')?.innerText.includes('999')")
    page.script(f"location.hash = '#explain/{sent['id']}'")
    page.until("document.getElementById('problem-explain')?.hidden")
    page.complaints[:] = [each for each in page.complaints if "404" not in str(each)]


def test_bytes_that_are_no_text_are_no_json_anywhere(page, emulator):
    """Bytes in Latin-1: where they go wrong is said on each page, and no phone shows them."""
    sent = push(emulator, install(emulator), None, payloadBase64=base64.b64encode(b'{"aps":{"alert":"caf\xe9"}}').decode())
    open_detail(page, sent)
    where = "line 1, column 21: expected UTF-8, got the byte e9"
    page.until(f"document.getElementById('panel').innerText.includes('{where}')")
    assert page.script("document.querySelector('#panel .handset .note')") is None
    page.click("Payload", "[role=tab]")
    page.until(f"document.getElementById('panel').innerText.includes('{where}')")
    page.script(f"location.hash = '#explain/{sent['id']}'")
    page.until(f"{RULES}.join() === 'not-json'")
    # What is written from there on is a text.
    write(page, '{"aps":{"alert":"café"}}')
    page.until(f"{RULES}.length === 0")


def test_what_cannot_be_explained_is_said(page):
    go(page)
    write(page, "x" * 20000)
    page.shows("The payload could not be checked")
    page.shows("at most 15360 bytes")
    write(page, "{}")
    page.shows("missing-aps")
    page.complaints[:] = [each for each in page.complaints if "400" not in str(each)]
