/* What the page knows, and what happens to it. */
const store = {
  info: null, notifications: new Map(), tokens: [], places: new Map(), nextToken: null, devices: null, nextDevice: null, loading: null, isStale: false, hasBegun: false,
  /* Never more than the server keeps, nor more than a person looks through. */
  limit: 10000,
  clock: { now: Date.now(), at: performance.now(), frozen: false, offset: 0 },
};

const listeners = { notifications: [], detail: [], tokens: [], devices: [], faults: [], other: [], loaded: [] };
const on = (topic, work) => listeners[topic].push(work);

/* Many events make one redraw. */
const waiting = new Set();
function changed(topic, detail) {
  if (detail !== undefined) { for (const work of listeners[topic]) work(detail); return; }
  if (waiting.has(topic)) return;
  waiting.add(topic);
  setTimeout(() => { waiting.delete(topic); for (const work of listeners[topic]) work(); }, topic === 'notifications' ? 40 : 200);
}

function haystack(notification) {
  return [notification.topic, notification.token, notification.udid, notification.apnsId, notification.collapseId,
    notification.verdict.accepted ? '' : refusalOf(notification), notification.state, notification.identifier, JSON.stringify(notification.payload)].join(' ').toLowerCase();
}

function keep(notification) {
  notification.haystack = haystack(notification);
  store.notifications.set(notification.id, notification);
}

function trim() {
  const extra = store.notifications.size - store.limit;
  if (extra <= 0) return;
  for (const id of Array.from(store.notifications.keys()).sort((a, b) => a - b).slice(0, extra)) store.notifications.delete(id);
}

async function loadInfo() {
  store.info = await api('GET', '/api/v1/info');
  store.limit = Math.min(10000, store.info.counters.historyLimit);
  $('environment').textContent = store.info.environment;
  changed('other');
}

async function loadClock() {
  const clock = await api('GET', '/api/v1/clock').catch(() => null);
  if (clock) store.clock = { ...clock, now: Date.parse(clock.now), at: performance.now() };
  changed('other');
}

/* The emulator's time now: it runs on from what it was when asked. */
function emulatorNow() {
  return store.clock.frozen ? store.clock.now : store.clock.now + (performance.now() - store.clock.at);
}

async function loadNotifications() {
  const found = new Map();
  let before = null;
  while (found.size < store.limit) {
    const answer = await api('GET', '/api/v1/notifications?order=newest&limit=1000' + (before ? `&before=${before}` : ''));
    for (const notification of answer.notifications) found.set(notification.id, notification);
    if (answer.notifications.length < 1000) break;
    before = answer.next;
    if (found.size === 1000) { store.notifications = new Map(found); for (const each of found.values()) keep(each); changed('notifications'); }
  }
  store.notifications = found;
  for (const notification of found.values()) keep(notification);
  changed('notifications');
}

/* Rows of a long list, page by page until there are enough, and where it would go on. */
async function rowsOf(name, size, wanted) {
  let rows = [], next = null;
  do {
    const answer = await api('GET', `/api/v1/${name}?limit=${size}` + (next ? `&since=${next}` : ''));
    rows = rows.concat(answer[name]);
    next = answer.next;
  } while (next !== null && rows.length < wanted);
  /* How many there are in all. */
  if (next !== null) await loadInfo();
  return { rows, next };
}

async function loadTokens(wanted = store.tokens.length) {
  await whileWatching(async () => {
    const { rows, next } = await rowsOf('tokens', limits.tokens, wanted);
    Object.assign(store, { tokens: rows, nextToken: next, places: new Map(rows.map((row, index) => [row.token, index])) });
  });
  changed('tokens');
}

async function loadDevices(wanted = store.devices ? store.devices.length : 0) {
  const { rows, next } = await rowsOf('devices', limits.devices, wanted);
  Object.assign(store, { devices: rows, nextDevice: next });
  changed('devices');
}

/* Below a list: how much of it is there, and more of it. */
function moreRow(view, found, { loaded, next, all, load }, draw) {
  const isPart = next !== null && next !== undefined;
  if (found <= view.most && !isPart) return null;
  const more = () => attempt(async () => {
    view.most += view.step;
    if (isPart && view.most > found) await load(loaded + 1);
    draw();
  });
  const words = `${Math.min(found, view.most).toLocaleString('en')} shown of ${found.toLocaleString('en')}`
    + (isPart ? `; ${loaded.toLocaleString('en')}${all > loaded ? ` of ${all.toLocaleString('en')}` : ''} are loaded, the oldest first` : '');
  return h('div', { class: 'row more' }, h('span', { class: 'faint' }, words), button('Show more', more));
}

const later = {};
function soon(name, work, delay) {
  if (later[name]) return;
  later[name] = setTimeout(() => { later[name] = null; work().catch(() => {}); }, delay || 200);
}

/* Lists of devices are long, and asked for only while they are looked at: watching must not slow the work. */
function refreshDevices() {
  if (devicesAreShown()) soon('devices', loadDevices, 1000);
  soon('info', loadInfo, 2000);
}

function keepToken(row) {
  const place = store.places.get(row.token);
  if (place === undefined) store.places.set(row.token, store.tokens.push(row) - 1); else store.tokens[place] = row;
  changed('tokens');
}

function noteDevice({ udid, environment, online }) {
  for (const row of store.tokens) if (row.udid === udid && row.environment === environment) row.online = online;
  changed('tokens');
}

/* Everything that is shown. Asked for while it is under way, it is done once more. */
function loadAll() {
  store.hasBegun = true;
  if (store.loading) { store.isStale = true; return store.loading; }
  store.loading = loadWhileStale().then(() => notice('trouble'), error => {
    trouble(error);
    soon('all', loadAll, limits.again);
  }).finally(() => { store.loading = null; });
  return store.loading;
}

async function loadWhileStale() {
  do {
    store.isStale = false;
    await Promise.all([loadInfo(), loadClock(), whileWatching(loadNotifications), loadTokens(), devicesAreShown() ? loadDevices() : null]);
  } while (store.isStale);
  /* What was drawn from less: a selection, or a form with suggestions. */
  changed('loaded');
}

/* What happens while something is loaded may be newer than the answer, so it is done again on top of it. */
const recorders = new Set();
const recordLimit = 20000;
async function whileWatching(load) {
  const heard = [];
  recorders.add(heard);
  try { await load(); } finally { recorders.delete(heard); }
  if (heard.length === recordLimit) store.isStale = true;
  for (const [name, document] of heard) events[name](document);
}

function happen(name, document) {
  for (const heard of recorders) if (heard.length < recordLimit && rowEvents.has(name)) heard.push([name, document]);
  events[name](document);
}

/* Numbers and rows of the boot before mean something else now. */
function startedAnew() {
  store.notifications.clear();
  Object.assign(store, { tokens: [], places: new Map(), nextToken: null, devices: null, nextDevice: null, info: null });
  for (const topic of ['notifications', 'tokens', 'devices', 'faults', 'other']) changed(topic);
  notice('anew', h('span', {}, 'The emulator was started anew. What was here before belonged to the run before, and is no longer shown.'),
    button('Dismiss', () => notice('anew')));
  view.seen = 0;
  refilter();
  if (view.element && view.element.isConnected) select(null);
}

/* What the page does about each event of the stream. */
const events = {
  notification: ({ notification }) => { keep(notification); trim(); changed('notifications'); },
  delivery: ({ id, state }) => {
    const notification = store.notifications.get(id);
    if (notification) { notification.state = state; keep(notification); changed('notifications'); changed('detail', id); }
    refreshDevices();
  },
  token: ({ row }) => { keepToken(row); refreshDevices(); },
  device: event => { noteDevice(event); refreshDevices(); },
  connection: () => changed('other'), clock: () => soon('clock', loadClock), fault: () => changed('faults'),
  reset: () => soon('all', loadAll), gap: () => soon('all', loadAll),
};
const rowEvents = new Set(['notification', 'delivery', 'token', 'device']);
