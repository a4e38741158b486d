import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesBetween, count, ranges, troubles, zonesByOwner, zoneWords } from '../../Sources/Dashboard/Web/clusterwords.js';

const node = (name, more) => ({ name, draining: false, ...more });
const zones = (...owners) => owners.map((owner, zone) => ({ zone, owner, seat: owner ? 'elsewhere' : 'nowhere', epoch: 1, sequence: 5, waitingBytes: 0, moving: false, trouble: null }));
const cluster = (names, owners, more) => ({ name: 'a', because: null, engine: { waitingMs: 0 }, nodes: names.map(name => node(name)), zones: zones(...owners), ...more });

test('numbers are written as ranges', () => {
  assert.equal(ranges([]), '');
  assert.equal(ranges([3]), '3');
  assert.equal(ranges([0, 1, 2, 5, 7, 8]), '0–2, 5, 7–8');
});

test('a failover is told: who is gone, and who has what', () => {
  const before = cluster(['a', 'b'], ['a', 'b', 'b', null]);
  const after = cluster(['a'], ['a', 'a', 'a', 'a']);
  assert.deepEqual(changesBetween(before, after), ['b left the cluster', 'a now leads zones 1–2, led by b before', 'a now leads zone 3']);
  assert.deepEqual(changesBetween(after, after), []);
  assert.deepEqual(changesBetween(after, before).slice(0, 1), ['b joined the cluster']);
});

test('of many zones there is the number, and names stay as they are', () => {
  const all = owner => Array(9).fill(owner);
  assert.deepEqual([0, 1, 2].map(number => count(number, 'node')), ['0 nodes', '1 node', '2 nodes']);
  assert.deepEqual(changesBetween(cluster(['a', '$&'], all('a')), cluster(['a', '$&'], all('$&'))), ['$& now leads 9 zones, led by a before']);
});

test('a node that begins to hand over is told once', () => {
  const before = cluster(['a'], ['a']);
  const after = { ...before, nodes: [node('a', { draining: true })] };
  assert.deepEqual(changesBetween(before, after), ['a hands its zones over']);
  assert.deepEqual(changesBetween(after, after), []);
});

test('what is not right is said', () => {
  assert.deepEqual(troubles(cluster(['a'], ['a', 'a'])), []);
  const bad = cluster(['a'], ['a', null, null], { because: 'no engine', engine: { waitingMs: 2500 } });
  bad.zones[0].trouble = 'no answer';
  assert.deepEqual(troubles(bad), ['a is not ready: no engine', 'a has waited for the NATS server for 2.5 s', 'no node leads zones 1–2', 'zone 0: no answer']);
  bad.zones[1].moving = true;
  assert.ok(troubles(bad).includes('no node leads zone 2'));
});

test('zones of a node, and a zone in words', () => {
  const now = cluster(['a', 'b'], ['a', 'b', 'a', null]);
  assert.deepEqual([...zonesByOwner(now)], [['a', [0, 2]], ['b', [1]]]);
  assert.equal(zoneWords({ ...now.zones[0], waitingBytes: 12 }), 'Zone 0, a, epoch 1, record 5, 12 bytes wait');
  assert.equal(zoneWords(now.zones[3]), 'Zone 3, no leader, not served, epoch 1, record 5');
});
