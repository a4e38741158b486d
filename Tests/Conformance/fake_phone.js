/* A phone for pages of the dashboard that need one in a given state: stands in for fetch, as the console API describes it. What iOS
   would do it does not know; it remembers what was asked of it, and answers with what the test put in. */
(() => {
  const action = (id, title, more) => ({ id, title, kind: 'plain', foreground: false, destructive: false, authentication: false, button: null, placeholder: null, ...more });
  const minutesAgo = minutes => new Date(Date.now() - minutes * 60000).toISOString();
  const note = (id, title, body, more) => ({ id, topic: 'com.example.app', title, subtitle: null, body, image: null, thread: null, category: null, level: 'active', at: minutesAgo(0), actions: [], notificationId: id, isLocal: false, custom: null, ...more });
  const app = more => ({
    state: 'suspended', permission: { status: 'authorized', alert: true, sound: true, badge: true, banner: true, lockScreen: true, list: true, timeSensitive: true, liveActivities: true, moreFrequentUpdates: true },
    backgroundRefresh: true, callbacks: ['M3', 'M4', 'M5'], badge: 0, silentBudget: { left: 2, of: 3, next: minutesAgo(-14), held: false }, categories: {}, pending: [], deviceTokens: [], ...more });
  const document = () => ({
    udid: 'phone-1', online: true, iosVersion: '26', settings: { locked: true, lowPower: false, backgroundRefresh: true, language: 'en', network: true, focus: null },
    screen: { locked: true, badge: {}, lockScreen: [], banner: null, list: [], foreground: null, expanded: null, prompt: null, call: null, activities: [], island: null },
    apps: { 'com.example.app': app() }, log: [] });
  const fake = { document: document(), asked: [], refusal: null, missing: null, note, action, app, minutesAgo, fresh: document };
  fake.log = (event, detail, rule, evidence, reason, more) => {
    const entry = { at: minutesAgo(0), event, topic: 'com.example.app', detail, rule, evidence, reason, notificationId: null, phoneNote: null, ...more };
    fake.document.log.push(entry);
    return entry;
  };
  /* Notes show where the lock says; the list has them by thread. */
  fake.deliver = (...notes) => {
    const { screen } = fake.document;
    for (const each of notes) {
      if (screen.locked) screen.lockScreen.unshift(each); else screen.banner = each;
      const group = screen.list.find(one => one.topic === each.topic && each.thread && one.thread === each.thread);
      if (group) group.notes.unshift(each); else screen.list.unshift({ topic: each.topic, thread: each.thread, notes: [each] });
    }
  };
  const every = () => fake.document.screen.list.flatMap(group => group.notes);
  const remove = id => {
    const { screen } = fake.document;
    screen.lockScreen = screen.lockScreen.filter(each => each.id !== id);
    if (screen.banner?.id === id) screen.banner = null;
    for (const group of screen.list) group.notes = group.notes.filter(each => each.id !== id);
    screen.list = screen.list.filter(group => group.notes.length);
    if (screen.expanded === id) screen.expanded = null;
  };
  const open = topic => {
    Object.assign(fake.document.screen, { foreground: topic, locked: false, banner: null });
    fake.document.settings.locked = false;
    fake.document.apps[topic].state = 'foreground';
    return fake.log('opened', '', 'tap-opens', 'A', 'a tap brings the app to the foreground, launching it if need be', { topic });
  };
  const called = detail => fake.log('callback', detail, 'tap-response', 'A, M', 'a tap goes to didReceive(response)');
  const response = 'userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:';
  const verbs = {
    open: ({ topic }) => [open(topic)],
    leave: ({ topic, state }) => { fake.document.apps[topic].state = state; fake.document.screen.foreground = null; return []; },
    tap: ({ id }) => { const { topic } = every().find(each => each.id === id); remove(id); return [open(topic), called(response)]; },
    flick: () => { fake.document.screen.banner = null; return []; },
    dismiss: ({ id }) => { remove(id); return []; },
    action: ({ id, action: name }) => { remove(id); return [called(`${response} ${name}`)]; },
    expand: ({ id }) => { fake.document.screen.expanded = id; return []; },
    close: () => { fake.document.screen.expanded = null; return []; },
    clear: () => { Object.assign(fake.document.screen, { lockScreen: [], list: [], banner: null }); return []; },
    call: ({ take }) => { const { screen } = fake.document; screen.call = take ? { ...screen.call, state: 'answered' } : null; return []; },
    'remove-activity': ({ activity }) => { const { screen } = fake.document; screen.activities = screen.activities.filter(each => each.id !== activity); screen.island = null; return []; },
    authorize: ({ topic, options }) => { fake.document.screen.prompt = { topic, options }; return []; },
    answer: ({ topic, allow }) => { fake.document.screen.prompt = null; fake.document.apps[topic].permission.status = allow ? 'authorized' : 'denied'; return []; },
    trial: ({ topic, choice }) => { fake.document.apps[topic].permission.status = choice === 'turn-off' ? 'denied' : 'authorized'; return []; },
    settings: ({ apps, iosVersion, ...settings }) => {
      Object.assign(fake.document.settings, settings);
      if (iosVersion) fake.document.iosVersion = iosVersion;
      if (settings.locked !== undefined) fake.document.screen.locked = settings.locked;
      for (const [topic, change] of Object.entries(apps || {})) {
        const { permission, ...rest } = change;
        Object.assign(fake.document.apps[topic], rest);
        Object.assign(fake.document.apps[topic].permission, permission);
      }
      return [];
    },
    local: () => [], register: () => [], restart: () => [],
  };
  const answer = (status, body) => new Response(JSON.stringify(body), { status, headers: { 'Content-Type': 'application/json' } });
  const refusal = ([status, message]) => answer(status, { error: { code: 'conflict', message } });
  const { fetch } = window;
  window.fetch = async (path, options = {}) => {
    const parts = String(path).match(/^\/api\/v1\/devices\/([^/]+)\/phone(?:\/([\w-]+))?$/);
    if (!parts) return fetch(path, options);
    if (fake.missing) return refusal(fake.missing);
    if (!parts[2]) return answer(200, fake.document);
    const body = JSON.parse(options.body);
    fake.asked.push([parts[2], body]);
    if (fake.refusal) return refusal(fake.refusal);
    if (!fake.document.online) return answer(202, { queued: true });
    return answer(200, { events: structuredClone(verbs[parts[2]](body)) });
  };
  window.fake = fake;
})();
