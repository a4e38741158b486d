/* What the page asks for, and what it does about each event of the stream. */
import { api, limits, Unreachable } from './api.js';
import { $, button, h } from './dom.js';
import { sentence } from './format.js';
import { notice, notices } from './notices.js';
import { changed, keep, keepToken, noteDevice, on, soon, store, trim } from './store.js';

export async function loadInfo() {
  store.info = await api('GET', '/api/v1/info');
  store.limit = Math.min(10000, store.info.counters.historyLimit);
  $('environment').textContent = store.info.environment;
  changed('other');
}

export async function loadClock() {
  const clock = await api('GET', '/api/v1/clock').catch(() => null);
  if (clock) store.clock = { ...clock, now: Date.parse(clock.now), at: performance.now() };
  changed('other');
}

/* What the list shows where it has no row: that it is being loaded, that nothing came, or why it can't be had. */
async function loadNotifications() {
  try { await loadEachNotification(); } catch (error) {
    store.list = error;
    changed('notifications');
    throw error;
  }
}

async function loadEachNotification() {
  const found = new Map();
  let before = null;
  while (found.size < store.limit) {
    const answer = await api('GET', '/api/v1/notifications?order=newest&limit=1000' + (before ? `&before=${before}` : ''));
    for (const notification of answer.notifications) found.set(notification.id, notification);
    if (answer.notifications.length < 1000) break;
    before = answer.next;
    if (found.size === 1000) { store.notifications = new Map(found); for (const each of found.values()) keep(each); changed('notifications'); }
  }
  Object.assign(store, { notifications: found, list: 'known' });
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

export async function loadTokens(wanted = store.tokens.length) {
  await whileWatching(async () => {
    const { rows, next } = await rowsOf('tokens', limits.tokens, wanted);
    Object.assign(store, { tokens: rows, nextToken: next, places: new Map(rows.map((row, index) => [row.token, index])) });
  });
  changed('tokens');
}

export async function loadDevices(wanted = store.devices ? store.devices.length : 0) {
  const { rows, next } = await rowsOf('devices', limits.devices, wanted);
  Object.assign(store, { devices: rows, nextDevice: next });
  changed('devices');
}

export async function loadAdvice() {
  store.advice = await api('GET', '/api/v1/advice');
  changed('advice');
}

function refreshDevices() {
  if (store.wantsDevices()) soon('devices', loadDevices, 1000);
}

/* Everything that is shown. Asked for while it is under way, it is done once more. */
export function loadAll() {
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
    await Promise.all([loadInfo(), loadClock(), whileWatching(loadNotifications), loadTokens(), loadAdvice(), store.wantsDevices() ? loadDevices() : null]);
  } while (store.isStale);
  /* What was drawn from less: a selection, or a form with suggestions. */
  changed('loaded');
}

export function trouble(error) {
  notice('trouble', h('span', {}, sentence(String(error.message || error)), error instanceof Unreachable ? ' This page may be out of date. It retries every few seconds.' : ''),
    button('Try again', () => { soon('all', loadAll); }));
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

export function happen(name, document) {
  for (const heard of recorders) if (heard.length < recordLimit && rowEvents.has(name)) heard.push([name, document]);
  events[name](document);
}

/* Numbers and rows of the boot before mean something else now. */
export function startedAnew() {
  store.notifications.clear();
  Object.assign(store, { list: 'loading', tokens: [], places: new Map(), nextToken: null, devices: null, nextDevice: null, advice: null, info: null });
  for (const topic of ['notifications', 'tokens', 'devices', 'faults', 'other']) changed(topic);
  tellOfStart();
  changed('anew', true);
}

/* What a restart resets, which depends on what the emulator keeps. */
export function startWords({ node, ephemeral }) {
  if (node) return 'The history of this node was reset. Fault rules and clock are those of the cluster.';
  if (ephemeral) return 'Everything was reset because of --ephemeral, except what --seed-data loads.';
  return 'History, fault rules and clock were reset, except what --seed-data loads. Devices, tokens and stored notifications were kept.';
}

function tellOfStart() {
  notice('anew', h('span', {}, 'The emulator was restarted. ', store.info ? startWords(store.info) : 'Earlier entries are no longer shown.'), button('Dismiss', () => notice('anew')));
}

on('loaded', () => { if (notices.has('anew')) tellOfStart(); });

/* Of the one that is looked at: there may be thousands. */
function phoneHappened({ udid, notificationId }) {
  if (notificationId) changed('detail', notificationId);
  if (udid === store.phone) changed('phones');
}

/* What the page does about each event of the stream. */
export const events = {
  notification: ({ notification }) => { keep(notification); trim(); changed('notifications'); },
  delivery: ({ id, state }) => {
    const notification = store.notifications.get(id);
    if (notification) { notification.state = state; keep(notification); changed('notifications'); changed('detail', id); }
    refreshDevices();
  },
  token: ({ row }) => { keepToken(row); refreshDevices(); },
  device: event => { noteDevice(event); refreshDevices(); phoneHappened(event); },
  connection: () => changed('other'), clock: () => { soon('clock', loadClock); changed('phones'); }, fault: () => changed('faults'), advice: () => soon('advice', loadAdvice),
  presented: phoneHappened, callback: phoneHappened, extension: phoneHappened, dropped: phoneHappened, phone: phoneHappened,
  reset: () => soon('all', loadAll), gap: () => soon('all', loadAll),
};

const rowEvents = new Set(['notification', 'delivery', 'token', 'device']);
