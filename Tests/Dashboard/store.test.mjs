import assert from 'node:assert/strict';
import test from 'node:test';
import { changed, emulatorNow, keep, keepToken, newestFirst, noteDevice, on, store, trim } from '../../Sources/Dashboard/Web/store.js';

const notification = (id, more = {}) => ({
  id, topic: 'com.example.app', token: 'ab', udid: 'Phone-1', apnsId: 'X', collapseId: null, verdict: { accepted: true },
  state: 'stored', identifier: null, payload: { aps: { alert: 'Hi' } }, ...more,
});

test('the oldest notifications go when there are too many', t => {
  t.after(() => { store.limit = 10000; store.notifications.clear(); });
  store.limit = 3;
  for (const id of [9, 2, 5, 7, 1]) keep(notification(id));
  trim();
  assert.deepEqual([...store.notifications.keys()].sort(), [5, 7, 9]);
});

test('in a cluster the time says which came later, else the number', () => {
  const at = (id, second, node) => notification(id, { receivedAt: `2026-01-02T03:04:0${second}.000Z`, node });
  const order = list => list.sort(newestFirst).map(each => each.id);
  assert.deepEqual(order([at(70, 1, 'node-2'), at(5, 3, 'node-1'), at(6, 2, 'node-1'), at(71, 3, 'node-2')]), [71, 5, 6, 70]);
  assert.deepEqual(order([at(1, 3), at(3, 1), at(2, 2)]), [3, 2, 1]);
});

test('a notification is found by what it was refused for, in any case', t => {
  t.after(() => store.notifications.clear());
  keep(notification(1, { verdict: { accepted: false, reason: 'BadTopic', fault: null } }));
  for (const word of ['phone-1', 'badtopic', '"alert":"hi"', 'stored']) assert.ok(store.notifications.get(1).haystack.includes(word), word);
});

test('a token keeps its place in the list, and learns whether its phone is there', t => {
  t.after(() => Object.assign(store, { tokens: [], places: new Map() }));
  const row = (token, udid) => ({ token, udid, environment: 'sandbox', online: false });
  for (const each of [row('a', 'one'), row('b', 'two'), { ...row('a', 'one'), install: 2 }]) keepToken(each);
  assert.deepEqual(store.tokens.map(each => [each.token, each.install]), [['a', 2], ['b', undefined]]);
  noteDevice({ udid: 'two', environment: 'production', online: true });
  noteDevice({ udid: 'one', environment: 'sandbox', online: true });
  assert.deepEqual(store.tokens.map(each => each.online), [true, false]);
});

test('many changes make one redraw; one about a thing is told at once', t => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let draws = 0;
  const told = [];
  on('faults', () => { draws += 1; });
  on('detail', id => told.push(id));
  for (let count = 0; count < 5; count += 1) changed('faults');
  changed('detail', 7);
  assert.deepEqual([draws, told], [0, [7]]);
  t.mock.timers.tick(200);
  assert.equal(draws, 1);
  changed('faults');
  t.mock.timers.tick(200);
  assert.equal(draws, 2);
});

test('a frozen clock stands still', t => {
  t.after(() => { store.clock.frozen = false; });
  Object.assign(store.clock, { now: 1000, at: performance.now() - 500, frozen: true });
  assert.equal(emulatorNow(), 1000);
  store.clock.frozen = false;
  assert.ok(emulatorNow() >= 1500);
});
