import assert from 'node:assert/strict';
import test from 'node:test';
import { asciiOf } from '../../Sources/Dashboard/Web/derivation.js';
import { inWords } from '../../Sources/Dashboard/Web/faults.js';
import { filters, searchWords, wanted } from '../../Sources/Dashboard/Web/list.js';
import { startWords } from '../../Sources/Dashboard/Web/loading.js';
import { payloadLimit } from '../../Sources/Dashboard/Web/payload.js';
import { moral, pairOf } from '../../Sources/Dashboard/Web/present.js';
import { draftOf, rangeOf } from '../../Sources/Dashboard/Web/explain.js';
import { appName } from '../../Sources/Dashboard/Web/handset.js';
import { isInVain } from '../../Sources/Dashboard/Web/happenings.js';
import { activityWords, wordsOf } from '../../Sources/Dashboard/Web/phonescenes.js';
import { groupsOf } from '../../Sources/Dashboard/Web/phonescreen.js';

test('a search takes words, and phrases in quotes, closed or not', () => {
  assert.deepEqual(searchWords('One "two  three" fo"ur "five six'), ['one', 'two  three', 'fo"ur', 'five six'].map(each => each.replaceAll('"', '')));
  assert.deepEqual(searchWords('  '), []);
});

test('a list shows what all filters want', t => {
  t.after(() => Object.assign(filters, { text: '', state: '', interface: '', verdict: '' }));
  const notification = { state: 'sent', interface: 'provider', verdict: { accepted: true }, haystack: 'good morning' };
  const shown = wish => { Object.assign(filters, { text: '', state: '', interface: '', verdict: '' }, wish); return wanted(notification); };
  assert.ok([{}, { text: 'morning good' }, { state: 'sent', verdict: 'accepted' }, { interface: 'provider' }].every(shown));
  assert.ok(![{ text: 'good night' }, { text: '"morning good"' }, { state: 'stored' }, { verdict: 'rejected' }, { interface: 'gateway' }].some(shown));
});

test('each kind of push has its limit', () => {
  const limit = more => payloadLimit({ interface: 'provider', pushType: 'alert', headers: [], ...more });
  assert.equal(limit(), 4096);
  assert.equal(limit({ pushType: 'voip' }), 5120);
  assert.equal(limit({ interface: 'gateway' }), 2048);
  assert.equal(limit({ headers: [{ name: ':path', value: '/4/broadcasts/apps/x' }] }), 5120);
});

test('an app is called by the end of its bundle id', () => {
  assert.deepEqual(['com.example.my-app', 'com.example.app.voip', null, 'com.example.app.push-type.liveactivity'].map(appName), ['My app', 'App', 'App', 'App']);
});

test('a rule is said as a person would say it', () => {
  assert.equal(inWords({ effect: { reason: 'ServiceUnavailable' } }), 'every time: ServiceUnavailable');
  assert.equal(inWords({ when: { next: 1 }, effect: { delayMs: 500, reset: true } }), 'next time: delay of 500 ms, TCP reset');
  assert.equal(inWords({ when: { next: 3 }, effect: { refuse: true } }), 'next 3 times: new connections refused');
  assert.equal(inWords({ when: { probability: 0.25 }, effect: { courier: 'drop' } }), '25 % of the time: device’s connection reset');
});

test('the newest install is compared with the one asked for, or the one before', () => {
  const [one, two, three] = ['aa', 'ab', 'bb'].map((token, index) => ({ token, install: index + 1 }));
  assert.deepEqual(pairOf([one, two, three], 'aa'), { newest: three, before: one });
  assert.deepEqual(pairOf([one, two, three], 'bb'), { newest: three, before: two });
  assert.deepEqual(pairOf([one], 'aa'), { newest: one, before: undefined });
  assert.match(moral(one, two), / 1 of 64 digits /);
});

test('only letters of a field are shown as letters', () => {
  assert.equal(asciiOf('00' + Buffer.from('abc~').toString('hex') + '7fff'), 'abc~');
});

test('a finding is found in the payload, as far as its names are there', () => {
  const text = '{"title":1,"aps":{"alert":{"title":"x"}}}';
  assert.equal(text.slice(...rangeOf(text, 'aps.alert.title')), '"title"');
  assert.deepEqual(rangeOf(text, 'aps.alert.title'), [27, 34]);
  assert.equal(text.slice(...rangeOf(text, 'aps.badge')), '"aps"');
  assert.equal(rangeOf(text, 'sound'), null);
});

test('what a provider did not say itself is not explained as said', () => {
  const push = { interface: 'provider', payloadBase64: 'e30=', pushType: 'alert', priority: 10, headers: [] };
  const same = { text: '{}', payloadBase64: 'e30=' };
  assert.deepEqual(draftOf(push), { ...same, pushType: '', priority: '' });
  assert.deepEqual(draftOf({ ...push, headers: [{ name: 'apns-push-type', value: 'alert' }] }), { ...same, pushType: 'alert', priority: '' });
  assert.deepEqual(draftOf({ ...push, interface: 'gateway' }), { ...same, pushType: '', priority: '10' });
  assert.deepEqual(draftOf({ ...push, interface: 'console', priority: 5 }), { ...same, pushType: 'alert', priority: '5' });
});

test('what was waited for in vain is told from what happened', () => {
  assert.ok(['not-presented', 'no-sound', 'no-badge', 'no-callback', 'dropped', 'held', 'merged'].every(event => isInVain({ event, detail: '' })));
  assert.ok(!['presented', 'sound', 'badge', 'callback', 'launched', 'handed-over', 'silent'].some(event => isInVain({ event, detail: '' })));
  assert.ok(isInVain({ event: 'extension', detail: 'skipped' }) && !isInVain({ event: 'extension', detail: 'runs, 2 s' }));
});

test('notes of one app and thread are together, in the order of their newest', () => {
  const note = (id, topic, thread) => ({ id, topic, thread });
  const ids = notes => groupsOf(notes).map(group => group.notes.map(each => each.id));
  assert.deepEqual(ids([note(5, 'a', 'x'), note(4, 'b', 'x'), note(3, 'a', 'x'), note(2, 'a', null), note(1, 'a', null)]), [[5, 3], [4], [2], [1]]);
});

test('a Live Activity is told in words', () => {
  assert.deepEqual(['driverName', 'eta_minutes', 'stops'].map(wordsOf), ['Driver name', 'Eta minutes', 'Stops']);
  assert.equal(activityWords({ contentState: { stops: 3, arrival: '15:40' } }), '15:40');
  assert.equal(activityWords({ contentState: { stops: 3 } }), '3');
  assert.equal(activityWords({ contentState: {}, attributesType: 'Delivery' }), 'Delivery');
});

test('a restart names what was reset, by what the emulator keeps', () => {
  assert.match(startWords({ ephemeral: false }), /^History, fault rules and clock were reset.*tokens.*were kept\.$/);
  assert.match(startWords({ ephemeral: true }), /^Everything was reset/);
  assert.match(startWords({ ephemeral: false, node: 'node-1' }), /^The history of this node was reset\. Fault rules and clock are those of the cluster\.$/);
});
