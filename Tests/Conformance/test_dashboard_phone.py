"""The dashboard's phone: what it shows, and what a mouse and a keyboard do to it."""

import json

import pytest

from harness import TOPIC, SimulatedDevice, eventually
from phone import Phone
from phone_scenes import APP, CHAT, SHOP, scene
from test_dashboard import page, push  # noqa: F401

@pytest.fixture
def asked(page):  # noqa: F811
    """What the phone was asked for since, verb and body."""
    return lambda: page.script("fake.asked.splice(0)")


def key(page):  # noqa: F811
    """Of what has the keyboard."""
    page.until("document.activeElement?.dataset.key")
    return page.script("document.activeElement.dataset.key")


def focus(page, name):  # noqa: F811
    page.script(f"document.querySelector('[data-key=\"{name}\"]').focus()")


def drag(page, selector, right, down=0):
    """A finger on an element that lies still, that far in pixels."""
    page.until("document.getAnimations().length === 0")
    x, y = page.script(f"""(box => [box.x + box.width / 2, box.y + box.height / 2])
        (document.querySelector({json.dumps(selector)}).getBoundingClientRect())""")
    def mouse(kind, x, y):
        page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    mouse("mousePressed", x, y)
    for step in range(1, 6):
        mouse("mouseMoved", x + right * step / 5, y + down * step / 5)
    mouse("mouseReleased", x + right, y + down)


def test_a_device_leads_to_its_phone(page, emulator):  # noqa: F811
    emulator.api("POST", f"/api/v1/devices/phone-1/apps/{APP}/install")
    scene(page, "empty")
    page.script("location.hash = '#devices'")
    page.shows("Take offline")
    page.click("Phone", "a.button")
    page.until("document.querySelector('.handset')")
    assert page.script("location.hash") == "#phone/phone-1"
    assert page.script("document.querySelector('nav [aria-current]').hash") == "#devices"
    page.shows("Nothing yet")


def test_lock_screen_groups_by_thread(page):  # noqa: F811
    scene(page, "lock")
    titles = "[...document.querySelectorAll('.screen .note .t')].map(each => each.innerText)"
    assert page.script(titles) == ["Storm warning", "Ada Lovelace", "Parcel 470"]
    page.shows("2 more from Chat")
    page.script("document.querySelector('.stack button').click()")
    page.until(f"{titles}.length === 5")
    # The keyboard is where it was: on what unfolded the group, which now folds it.
    focus(page, f"group-{CHAT} ada")
    page.press("Enter")
    page.until(f"{titles}.length === 3")
    assert key(page) == f"group-{CHAT} ada"


@pytest.mark.parametrize("way", ["click", "Enter", "swipe"])
def test_a_tap_opens_and_calls(page, asked, way):  # noqa: F811
    scene(page, "lock")
    if way == "click":
        page.script("document.querySelector('[data-key=note-5]').click()")
    elif way == "Enter":
        focus(page, "note-5")
        page.press("Enter")
    else:
        drag(page, "[data-key=note-5]", 150)
    page.until("fake.asked.length")
    assert asked() == [["tap", {"id": 5}]]
    page.until("document.querySelector('.screen .app')")
    page.until("document.querySelector('.phone-log .happening strong').innerText === 'Callback'")
    # Also said to who can't see it.
    assert "Callback userNotificationCenter:didReceive" in page.script("document.querySelector('.unseen[role=status]').textContent")


@pytest.mark.parametrize("way", ["button", "Delete", "swipe"])
def test_a_note_is_cleared(page, asked, way):  # noqa: F811
    scene(page, "lock")
    if way == "button":
        page.script("document.querySelector('[data-key=clear-5]').click()")
    elif way == "Delete":
        focus(page, "note-5")
        page.press("Delete")
    else:
        drag(page, "[data-key=note-5]", -150)
    page.until("!document.querySelector('[data-key=note-5]')")
    assert asked() == [["dismiss", {"id": 5}]]
    assert "Storm warning" not in page.text()


def test_a_swipe_that_goes_nowhere_is_none(page, asked):  # noqa: F811
    scene(page, "lock")
    drag(page, "[data-key=note-5]", 40)
    page.script("document.querySelector('[data-key=lock]').click()")
    page.until("fake.asked.length")
    assert asked() == [["settings", {"locked": False}]]


def test_expanded_with_actions_and_a_reply(page, asked):  # noqa: F811
    scene(page, "lock")
    focus(page, "note-5")
    page.press("e")
    page.until("document.querySelector('.expanded')")
    assert page.script("document.querySelector('.expanded .attachment').getAttribute('aria-label')") == "Attached picture storm.jpg"
    names = page.script("[...document.querySelectorAll('.actions button')].map(each => each.firstChild.textContent)")
    assert names == ["Show on the map", "Ask a neighbour", "Mute for today"]
    asked()
    focus(page, "action-ask")
    page.press("Enter")
    page.until("document.activeElement.dataset.key === 'reply'")
    # Letters that are keys of the phone elsewhere.
    for letter in "hello":
        page.press(letter)
    assert page.script("document.activeElement.value") == "hello"
    page.press("Enter")
    page.until("fake.asked.length")
    assert asked() == [["action", {"id": 5, "action": "ask", "text": "hello"}]]
    scene(page, "expanded")
    page.script("document.querySelector('[data-key=action-mute]').click()")
    page.until("fake.asked.length")
    assert asked() == [["action", {"id": 5, "action": "mute"}]]
    scene(page, "expanded")
    focus(page, "close")
    page.press("Escape")
    page.until("!document.querySelector('.expanded')")
    assert asked() == [["close", {}]]
    assert page.script("location.hash") == "#phone/phone-1"


def test_home_lock_and_the_list_by_keyboard(page, asked):  # noqa: F811
    scene(page, "banner")
    labels = page.script("[...document.querySelectorAll('.home button')].map(each => each.getAttribute('aria-label'))")
    assert labels == ["Open Weather, badge 1", "Open Chat, badge 3", "Open Parcel"]
    focus(page, f"open-{CHAT}")
    page.press("Enter")
    page.until("document.querySelector('.screen .app')")
    focus(page, "lock")
    page.press("h")
    page.until("document.querySelector('.home')")
    page.press("l")
    page.until("document.querySelector('.lock-clock')")
    assert asked() == [["open", {"topic": CHAT}], ["leave", {"topic": CHAT, "state": "background"}], ["settings", {"locked": True}]]
    page.press("c")
    page.shows("Clear all")
    page.script("document.querySelector('[data-key=clear-all]').click()")
    page.shows("No notifications")
    page.press("Escape")
    page.until("!document.body.innerText.includes('No notifications')")


def test_a_banner_is_flicked_away_and_stays_in_the_list(page, asked):  # noqa: F811
    scene(page, "banner")
    drag(page, ".banner .note", 0, -120)
    page.until("!document.querySelector('.banner')")
    assert asked() == [["flick", {"id": 5}]]
    page.script("document.querySelector('[data-key=centre]').click()")
    page.shows("Storm warning")


def test_a_call_is_answered_and_ended(page, asked):  # noqa: F811
    scene(page, "call")
    page.shows("Ada Lovelace")
    focus(page, "call-accept")
    page.press("Enter")
    page.shows("connected")
    page.script("document.querySelector('[data-key=call-decline]').click()")
    page.until("!document.querySelector('.calling')")
    assert asked() == [["call", {"take": True}], ["call", {"take": False}]]


def test_a_live_activity_is_a_card(page, asked):  # noqa: F811
    scene(page, "activity")
    card = page.script("document.querySelector('.activity').innerText").replace("\n", " ")
    assert "Stops left 3" in card and "Arrival 15:40" in card and "live" in card
    assert page.script("document.querySelector('.activity progress').value") == 0.7
    page.script("fake.document.screen.activities[0].state = 'stale'; changed('phones')")
    page.shows("out of date")
    page.script("document.querySelector('[data-key=remove-a1]').click()")
    eventually(lambda: asked() == [["remove-activity", {"activity": "a1"}]], "it is taken away")


def test_tokens_are_copied(page):  # noqa: F811
    page.script("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { window.copied = text; } }, configurable: true }), 0")
    scene(page, "activity")
    page.script("document.querySelector('[data-key=token-a1]').click()")
    page.shows("Token of a1 copied")
    assert page.script("window.copied") == "a1" * 32
    page.script(f"(select => {{ select.value = '{SHOP}'; select.dispatchEvent(new Event('change')); }})(document.querySelector('[data-key=set-topic]'))")
    page.shows("4 tokens")
    rows = page.script("[...document.querySelectorAll('.app-tokens li')].map(each => each.querySelector('span').innerText.replace(/\\s+/g, ' '))")
    assert rows == ["The app b2b2b2b2…b2b2b2", ".voip c3c3c3c3…c3c3c3", "Updates a1 a1a1a1a1…a1a1a1", "Starts DeliveryAttributes d4d4d4d4…d4d4d4"]
    page.script("document.querySelector('[data-key=\"copy-Starts DeliveryAttributes\"]').click()")
    page.until("window.copied === 'd4'.repeat(32)")
    # With the activity its token ends.
    page.script("fake.document.screen.activities[0].state = 'ended'; fake.document.screen.activities[0].token = null; changed('phones')")
    page.until("!document.querySelector('[data-key=token-a1]')")


def test_permission_is_asked_for_and_answered(page, asked):  # noqa: F811
    scene(page, "prompt")
    page.shows("“Weather” Would Like to Send You Notifications")
    page.shows("alerts, icon badges, and sounds")
    focus(page, "deny")
    page.press("Enter")
    page.until("!document.querySelector('.prompt')")
    assert page.script("document.querySelector('[data-key=set-permission]').value") == "denied"
    page.click("Ask for authorization")
    page.until("document.querySelector('.prompt')")
    assert asked() == [["answer", {"topic": APP, "allow": False}], ["authorize", {"topic": APP, "options": ["alert", "badge", "sound"]}]]


def choose(page, name, value):  # noqa: F811
    page.script(f"""(() => {{ const menu = document.querySelector('[data-key="set-{name}"]');
        menu.value = {json.dumps(value)}; menu.dispatchEvent(new Event('change')) }})()""")


def test_settings_of_phone_and_app(page, asked):  # noqa: F811
    def is_asked(*wanted):
        page.until(f"fake.asked.length >= {len(wanted)}")
        assert asked() == list(wanted)

    scene(page, "lock")
    choose(page, "ios", "12")
    page.shows("iOS 12")
    is_asked(["settings", {"iosVersion": "12"}])
    page.script("document.querySelector('[data-key=set-power]').click()")
    is_asked(["settings", {"lowPower": True}])
    page.script("document.querySelector('[data-key=set-focus]').click()")
    page.shows("Apps that Focus lets through")
    page.script(f"document.querySelector('[data-key=\"set-focus-{CHAT}\"]').click()")
    is_asked(["settings", {"focus": {"allows": []}}], ["settings", {"focus": {"allows": [CHAT]}}])
    choose(page, "topic", SHOP)
    page.shows("0 of 3, one is held")
    assert asked() == []
    choose(page, "state", "suspended")
    page.until("fake.document.apps[%r].state === 'suspended'" % SHOP)
    page.click("Force-quit")
    page.until("fake.document.apps[%r].state === 'force-quit'" % SHOP)
    is_asked(["leave", {"topic": SHOP, "state": "suspended"}], ["leave", {"topic": SHOP, "state": "force-quit"}])
    page.script("document.querySelector('[data-key=set-permission-sound]').click()")
    is_asked(["settings", {"apps": {SHOP: {"permission": {"sound": False}}}}])
    page.script("document.querySelector('[data-key=set-callback-M1]').click()")
    is_asked(["settings", {"apps": {SHOP: {"callbacks": ["M1", "M3", "M4", "M5"]}}}])
    page.click("Schedule")
    is_asked(["local", {"topic": SHOP, "identifier": "dashboard-Tea is ready", "content": {"title": "Tea is ready"}, "trigger": {"after": "5s"}}])


def test_background_refresh_and_the_end_of_a_trial(page, asked):  # noqa: F811
    def click(key, *wanted):
        page.script(f"document.querySelector('[data-key={key}]').click()")
        page.until("fake.asked.length")
        assert asked() == list(wanted)

    scene(page, "lock")
    click("set-refresh", ["settings", {"backgroundRefresh": False}])
    click("set-app-refresh", ["settings", {"apps": {APP: {"backgroundRefresh": False}}}])
    choose(page, "permission", "provisional")
    page.shows("Keep… Deliver Immediately")
    choose(page, "ios", "14")
    page.shows("Keep… Deliver Prominently")
    asked()
    click("trial-deliver-prominently", ["trial", {"topic": APP, "choice": "deliver-prominently"}])
    page.until("!document.querySelector('[data-key=trial-turn-off]')")


def test_all_there_is_to_be_set_of_an_app(page, asked):  # noqa: F811
    scene(page, "lock")
    page.script("document.querySelector('[data-key=all]').click()")
    page.until("document.querySelector('details[open] textarea')")
    text = "document.querySelector('[data-key=all-text]')"
    assert "categories" in json.loads(page.script(f"{text}.value")) and "badge" not in json.loads(page.script(f"{text}.value"))
    change = {"serviceExtension": {"seconds": 31}}
    page.script(f"{text}.focus(); {text}.value = {json.dumps(json.dumps(change))}; {text}.dispatchEvent(new Event('input'))")
    # What happens meanwhile takes nothing away from who writes.
    page.script(f"fake.document.apps[{APP!r}].state = 'terminated'; changed('phones')")
    page.until("document.querySelector('[data-key=set-state]').value === 'terminated'")
    assert page.script("document.activeElement.dataset.key") == "all-text"
    assert json.loads(page.script(f"{text}.value")) == change
    page.script("document.querySelector('[data-key=all-set]').click()")
    page.until("fake.asked.length")
    assert asked() == [["settings", {"apps": {APP: change}}]]


def test_why_not_is_told_with_its_rule_and_leads_to_the_push(page):  # noqa: F811
    scene(page, "lock")
    page.script("document.querySelector('[data-key=filter-vain]').click()")
    rows = "[...document.querySelectorAll('.phone-log .happening')]"
    assert page.script(f"{rows}.map(each => each.querySelector('.rule').innerText)") == ["silent-force-quit", "system-calls-nobody"]
    first = page.script(f"{rows}[0].innerText")
    assert "why not" in first and "not woken until it is opened once" in first
    assert page.script(f"{rows}[0].querySelector('.evidence').title") == "Apple’s documentation"
    assert page.script(f"{rows}[0].querySelector('a').hash") == "#notifications/18"
    page.script("document.querySelector('[data-key=filter-calls]').click()")
    assert page.script(f"{rows}.length") == 3


def test_what_is_refused_says_why_in_place(page):  # noqa: F811
    scene(page, "lock")
    page.script("fake.refusal = [409, 'phone-1 is offline: connect it, or change only its settings']")
    focus(page, "note-5")
    page.press("Enter")
    page.until("document.querySelector('.pane [role=alert]').innerText.includes('Phone-1 is offline: connect it, or change only its settings')")
    assert page.script("document.querySelector('[data-key=note-5]') !== null")
    page.click("Dismiss")
    page.until("document.querySelector('.pane [role=alert]').innerText === ''")


def test_what_a_setting_is_refused_for_stands_beside_it(page):  # noqa: F811
    scene(page, "lock")
    page.script("fake.refusal = [409, 'out of order']")
    def said(of):
        return page.until(f"document.querySelector({of!r})?.innerText === 'Out of order'")
    page.script("document.querySelector('[data-key=set-power]').click()")
    said(".phone-settings .card:first-child .problem:not([hidden])")
    page.script("document.querySelector('[data-key=local-add]').click()")
    said("form.local .problem:not([hidden])")
    # What was written stays to be mended, whatever is wrong with it.
    page.script("document.querySelector('[data-key=all]').click()")
    for text, words in (('{"language": ', "This is not JSON"), ('{"language": "xx"}', "Out of order")):
        page.script(f"""(area => {{ area.value = {json.dumps(text)}; area.dispatchEvent(new Event('input')) }})(document.querySelector('[data-key=all-text]'));
            document.querySelector('[data-key=all-set]').click()""")
        page.until(f"document.querySelector('[data-key=all-text] + .problem:not([hidden])')?.innerText.startsWith({words!r})")
        page.until(f"document.querySelector('[data-key=all-text]').value === {json.dumps(text)}")
    assert page.script("document.querySelectorAll('.toast').length") == 0


def test_settings_of_a_phone_that_is_offline_wait(page):  # noqa: F811
    scene(page, "offline")
    page.shows("offline")
    page.script("document.querySelector('[data-key=set-power]').click()")
    page.shows("The change is stored until it is online")


def test_somebody_elses_client_has_no_phone(page):  # noqa: F811
    scene(page, "lock")
    page.script("fake.missing = [409, 'phone-1 is connected with a client that has no phone; a device of `apns-emulator device` has one']; changed('phones')")
    page.shows("No screen to show")
    page.shows("connected with a client that has no phone")
    page.shows("apns-emulator device --udid phone-1")
    page.script("fake.missing = null")
    page.click("Try again")
    page.until("document.querySelector('.handset')")


def test_what_comes_moves_nothing_under_the_hands(page):  # noqa: F811
    scene(page, "lock")
    focus(page, "note-3")
    page.script(f"fake.deliver(fake.note(9, 'New', 'Just came', {{ topic: {APP!r} }})); changed('phones')")
    page.shows("Just came")
    assert key(page) == "note-3"
    assert page.script("[...document.querySelectorAll('.note-row.new')].map(each => each.dataset.note)") == ["9"]
    # What has the keyboard goes away: the keyboard stays on the phone.
    page.script("fake.document.screen.lockScreen = []; fake.document.screen.list = []; changed('phones')")
    page.until("!document.querySelector('.note')")
    assert page.script("document.activeElement.className") == "phone-screen"


def test_nothing_moves_for_who_wants_that(page):  # noqa: F811
    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    scene(page, "call")
    assert page.script("document.getAnimations().length") == 0
    scene(page, "banner")
    assert page.script("document.getAnimations().length") == 0


# MARK: The phone that `device` plays

RESPONSE = "userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:"


@pytest.fixture
def phone(emulator):
    """A simulated phone that is there: its process and its token."""
    device = SimulatedDevice(emulator, "phone-1")
    device.next("token")
    yield device, emulator.api("GET", "/api/v1/tokens?udid=phone-1")["tokens"][0]["token"]
    if device.process.poll() is None:
        device.stop()


def test_a_push_is_seen_tapped_and_told(page, emulator, phone):  # noqa: F811
    page.script("location.hash = '#phone/phone-1'")
    page.until("document.querySelector('.lock-clock')")
    sent = push(emulator, phone[1], {"aps": {"alert": {"title": "Storm", "body": "Tonight"}, "badge": 2}}, pushType="alert")
    page.until("document.querySelector('.note-row .t')?.innerText === 'Storm'", timeout=5)
    first = "document.querySelector('.phone-log .happening')"
    page.until("[...document.querySelectorAll('.phone-log .rule')].some(each => each.innerText === 'system-calls-nobody')")
    page.script("document.querySelector('.note-row .note').focus()")
    page.press("Enter")
    page.until("document.querySelector('.screen .app')")
    page.until(f"{first}.innerText.includes('{RESPONSE}')")
    assert page.script(f"{first}.querySelector('a').hash") == f"#notifications/{sent['id']}"
    page.press("h")
    page.script(f"location.hash = '#notifications/{sent['id']}'")
    page.shows("Edit and replay")
    page.click("Timeline", "[role=tab]")
    timeline = page.script("document.getElementById('panel').innerText")
    assert "presented" in timeline and "system-calls-nobody" in timeline
    page.click("Open the phone", "#panel a")
    page.until("document.querySelector('.home button')?.getAttribute('aria-label') === 'Open App, badge 2'")
    page.script("document.querySelector('.home button').focus()")
    page.press("l")
    page.until("document.querySelector('.lock-clock')")


def test_actions_and_a_reply_of_the_real_phone(page, emulator, phone):  # noqa: F811
    category = {"actions": [{"id": "yes", "title": "Yes", "foreground": True}, {"id": "say", "title": "Say", "kind": "text", "button": "Send"}]}
    app = {"categories": {"ASK": category}, "serviceExtension": {"attachment": {"name": "map.png", "type": "png", "bytes": 9000}}}
    emulator.api("POST", "/api/v1/devices/phone-1/phone/settings", {"apps": {TOPIC: app}})
    page.script("location.hash = '#phone/phone-1'")
    page.until("document.querySelector('.lock-clock')")
    push(emulator, phone[1], {"aps": {"alert": "Dinner?", "category": "ASK", "mutable-content": 1}}, pushType="alert")
    page.until("document.querySelector('.note-row .thumb')")
    page.script("document.querySelector('.note-row .note').focus()")
    page.press("e")
    page.until("document.querySelector('.actions')")
    page.script("document.querySelector('[data-key=action-say]').click()")
    page.until("document.activeElement.dataset.key === 'reply'")
    for letter in "soon":
        page.press(letter)
    page.press("Enter")
    page.until("document.querySelector('.phone-log').innerText.includes('soon')")
    page.until("!document.querySelector('.expanded')")


def test_an_offline_phone_says_so_where_it_is_touched(page, emulator, phone):  # noqa: F811
    device, token = phone
    push(emulator, token, {"aps": {"alert": "Before"}}, pushType="alert")
    page.script("location.hash = '#phone/phone-1'")
    page.until("document.querySelector('.note-row')")
    device.stop()
    page.until("document.querySelector('.phone-screen.away')")
    page.script("document.querySelector('.note-row .note').click()")
    page.until("document.querySelector('.pane [role=alert]').innerText.includes('connect it, or change only its settings')")
    page.script("document.querySelector('[data-key=set-power]').click()")
    page.shows("Stored until the phone is online:")
    page.complaints[:] = [each for each in page.complaints if "409" not in str(each)]


def test_a_client_that_is_not_ours_has_no_phone(page, emulator):  # noqa: F811
    client = Phone(emulator)
    client.online()
    page.script("location.hash = '#phone/phone-1'")
    page.shows("No screen to show")
    page.shows("apns-emulator device --udid phone-1")
    client.device.close()
    page.complaints[:] = [each for each in page.complaints if "409" not in str(each)]


def test_a_live_activity_of_the_real_phone(page, emulator):  # noqa: F811
    """A provider starts one with a token, as no certificate will do; so does who sends it from the console."""
    topic = f"{TOPIC}.push-type.liveactivity"
    device = SimulatedDevice(emulator, "phone-1", "--activity-type", "Delivery")

    def tokens():
        return {row["context"]: row["token"] for row in emulator.api("GET", f"/api/v1/tokens?topic={topic}")["tokens"] if row["installed"]}

    def push(context, aps):
        sent = emulator.api("POST", "/api/v1/push", {"token": tokens()[context], "topic": topic, "pushType": "liveactivity", "payload": {"aps": aps}})
        assert sent["verdict"]["accepted"], sent["verdict"]

    eventually(lambda: "start:Delivery" in tokens(), "there is a token that starts some")
    push("start:Delivery", {"timestamp": 1, "event": "start", "attributes-type": "Delivery", "attributes": {"order": "470"}, "input-push-token": 1,
                            "content-state": {"stopsLeft": 3}, "alert": {"title": "On its way", "body": "Three stops"}})
    page.script("location.hash = '#phone/phone-1'")
    page.until("document.querySelector('.activity')")
    card = page.script("document.querySelector('.activity').innerText").replace("\n", " ")
    assert "Stops left 3" in card and "live" in card
    page.until("document.querySelector('[data-key=token-activity-1]')")
    assert page.script("document.querySelector('.own-token code').title") == tokens()["activity:activity-1"]
    titles = "[...document.querySelectorAll('.app-tokens code')].map(each => each.title)"
    assert set(page.script(titles)) >= set(tokens().values())
    # With its end the token goes, here and there.
    push("activity:activity-1", {"timestamp": 2, "event": "end", "content-state": {"stopsLeft": 0}})
    page.until("document.querySelector('.activity.ended') && !document.querySelector('.own-token')")
    eventually(lambda: "activity:activity-1" not in tokens(), "its token is gone")
    page.script("document.querySelector('[data-key=remove-activity-1]').click()")
    page.until("!document.querySelector('.activity')")
    device.stop()
