/* What the page knows, and who is told when it changes. */
import { refusalOf } from './format.js';

export const store = {
  info: null, notifications: new Map(), tokens: [], places: new Map(), nextToken: null, devices: null, nextDevice: null, advice: null, phone: null, loading: null, isStale: false, list: 'loading', hasBegun: false,
  /* Whether somebody looks at the devices. Their list is long: watching must not slow the work. */
  wantsDevices: () => false,
  /* Never more than the server keeps, nor more than a person looks through. */
  limit: 10000,
  clock: { now: Date.now(), at: performance.now(), frozen: false, offset: 0 },
};

export const listeners = { notifications: [], detail: [], tokens: [], devices: [], phones: [], faults: [], advice: [], other: [], loaded: [], anew: [] };
export const on = (topic, work) => listeners[topic].push(work);

/* Many events make one redraw. */
const waiting = new Set();

export function changed(topic, detail) {
  if (detail !== undefined) { for (const work of listeners[topic]) work(detail); return; }
  if (waiting.has(topic)) return;
  waiting.add(topic);
  setTimeout(() => { waiting.delete(topic); for (const work of listeners[topic]) work(); }, topic === 'notifications' ? 40 : 200);
}

export function haystack(notification) {
  return [notification.topic, notification.token, notification.udid, notification.apnsId, notification.collapseId,
    notification.verdict.accepted ? '' : refusalOf(notification), notification.state, notification.identifier, JSON.stringify(notification.payload)].join(' ').toLowerCase();
}

export function keep(notification) {
  notification.haystack = haystack(notification);
  store.notifications.set(notification.id, notification);
}

/* In a cluster each node counts for itself, so there the time says what came later. */
export function newestFirst(a, b) {
  if (!a.node || a.receivedAt === b.receivedAt) return b.id - a.id;
  return a.receivedAt < b.receivedAt ? 1 : -1;
}

export function trim() {
  if (store.notifications.size <= store.limit) return;
  for (const { id } of Array.from(store.notifications.values()).sort(newestFirst).slice(store.limit)) store.notifications.delete(id);
}

export function keepToken(row) {
  const place = store.places.get(row.token);
  if (place === undefined) store.places.set(row.token, store.tokens.push(row) - 1); else store.tokens[place] = row;
  changed('tokens');
}

export function noteDevice({ udid, environment, online }) {
  for (const row of store.tokens) if (row.udid === udid && row.environment === environment) row.online = online;
  changed('tokens');
}

/* The emulator's time now: it runs on from what it was when asked. */
export function emulatorNow() {
  return store.clock.frozen ? store.clock.now : store.clock.now + (performance.now() - store.clock.at);
}

const later = {};

export function soon(name, work, delay) {
  if (later[name]) return;
  later[name] = setTimeout(() => { later[name] = null; work().catch(() => {}); }, delay || 200);
}
