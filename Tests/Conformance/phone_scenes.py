"""What a phone can show, as states of `fake_phone.js`: for tests of the page, and for pictures of it."""

import os

APP, CHAT, SHOP = "com.example.weather", "com.example.chat", "com.example.parcel"

# Three apps and some notes that every scene begins with; a scene is what is added to that.
BEGIN = f"""
fake.document = fake.fresh(); fake.asked = []; fake.refusal = fake.missing = null;
fake.document.apps = {{ {APP!r}: fake.app({{ badge: 1 }}), {CHAT!r}: fake.app({{ badge: 3, callbacks: ['M3', 'M4', 'M5', 'M6'] }}), {SHOP!r}: fake.app({{ silentBudget: {{ left: 0, of: 3, next: fake.minutesAgo(-14), held: true }}, state: 'force-quit' }}) }};
fake.document.screen.badge = {{ {APP!r}: 1, {CHAT!r}: 3 }};
"""
NOTES = f"""
fake.deliver(
    fake.note(1, 'Ada Lovelace', 'Did the letter arrive?', {{ topic: {CHAT!r}, thread: 'ada', at: fake.minutesAgo(42) }}),
    fake.note(2, 'Ada Lovelace', 'The notes on the engine are in the second envelope.', {{ topic: {CHAT!r}, thread: 'ada', at: fake.minutesAgo(12) }}),
    fake.note(3, 'Parcel 470', 'Out for delivery, today between 3 and 5 pm', {{ topic: {SHOP!r}, at: fake.minutesAgo(8) }}),
    fake.note(4, 'Ada Lovelace', 'Shall we meet at four?', {{ topic: {CHAT!r}, thread: 'ada', at: fake.minutesAgo(3) }}),
    fake.note(5, 'Storm warning', 'Gusts of up to 110 km/h tonight, from the west', {{ topic: {APP!r}, level: 'time-sensitive', subtitle: 'Hamburg', image: 'storm.jpg', category: 'WARNING', actions: [
        fake.action('show', 'Show on the map', {{ foreground: true }}), fake.action('ask', 'Ask a neighbour', {{ kind: 'text', button: 'Send', placeholder: 'Are you at home?' }}),
        fake.action('mute', 'Mute for today', {{ destructive: true, authentication: true }})] }}));
fake.log('extension', 'runs', 'extension-runs', 'A', 'mutable-content with a text, and alerts allowed: the service extension runs first, 30 s at most', {{ topic: {APP!r}, notificationId: 17 }});
fake.log('presented', 'lock screen, list', 'system-shows', 'A', 'an app that is not in the foreground: the system shows it', {{ topic: {APP!r}, notificationId: 17 }});
fake.log('sound', 'default', 'sound', 'A', 'sound plays a file of the app, or the default where that is missing', {{ topic: {APP!r}, notificationId: 17 }});
fake.log('no-callback', '', 'system-calls-nobody', 'A, M', 'what the system shows calls no method of the app until the user taps it', {{ topic: {APP!r}, notificationId: 17 }});
fake.log('callback', 'userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:', 'tap-response', 'A, M', 'a tap goes to didReceive(response)', {{ topic: {CHAT!r}, notificationId: 16 }});
fake.log('dropped', '', 'silent-force-quit', 'A', 'the user has force-quit the app: it is not woken until it is opened once', {{ topic: {SHOP!r}, notificationId: 18 }});
"""
UNLOCK = "fake.document.screen.locked = fake.document.settings.locked = false;"
ACTIVITY = f"""
fake.document.screen.activities = [{{ id: 'a1', topic: {SHOP!r}, attributesType: 'DeliveryAttributes', attributes: {{ order: 'Parcel 470' }},
    contentState: {{ stopsLeft: 3, arrival: '15:40', driver: 'Grace', progress: 0.7 }}, state: 'active', alert: null, updatedAt: fake.minutesAgo(1), staleDate: null, dismissalDate: null, token: 'a1'.repeat(32), channel: null }}];
fake.document.screen.island = 'a1';
fake.document.apps[{SHOP!r}].deviceTokens = [{{ topic: {SHOP!r}, context: null, token: 'b2'.repeat(32) }}, {{ topic: {SHOP!r} + '.voip', context: null, token: 'c3'.repeat(32) }},
    ...[['activity:a1', 'a1'], ['start:DeliveryAttributes', 'd4']].map(([context, digits]) => ({{ topic: {SHOP!r} + '.push-type.liveactivity', context, token: digits.repeat(32) }}))];
"""
SCENES = {
    "lock": NOTES,
    "expanded": NOTES + "fake.document.screen.expanded = 5;",
    "call": NOTES + f"fake.document.screen.call = {{ id: 'c1', topic: {CHAT!r}, caller: 'Ada Lovelace', state: 'ringing', notificationId: 19 }};",
    "activity": NOTES + ACTIVITY,
    "banner": UNLOCK + NOTES,
    "app": UNLOCK + NOTES + ACTIVITY + f"fake.document.screen.foreground = {CHAT!r}; fake.document.screen.banner = null; fake.document.apps[{CHAT!r}].state = 'foreground';",
    "prompt": UNLOCK + f"fake.document.screen.foreground = {APP!r}; fake.document.screen.prompt = {{ topic: {APP!r}, options: ['alert', 'badge', 'sound'] }};",
    "focus": NOTES + f"fake.document.settings.focus = {{ allows: [{APP!r}] }}; fake.document.settings.lowPower = true;",
    "offline": NOTES + "fake.document.online = false;",
    "empty": "",
}

with open(os.path.join(os.path.dirname(__file__), "fake_phone.js"), encoding="utf-8") as _file:
    FAKE = _file.read()


def scene(page, name, more=""):
    """Shows the pane of phone-1 in that scene."""
    page.script("window.fake || (() => { %s })(), 0" % FAKE)
    page.script("(() => { %s %s %s })()" % (BEGIN, SCENES[name], more))
    page.script("location.hash = '#devices'")
    page.until("!document.querySelector('.phone-pane')")
    page.script("location.hash = '#phone/phone-1'")
    page.until("document.querySelector('.phone-pane .handset')")
