import assert from 'node:assert/strict';
import test from 'node:test';
import { addressOf, lastAddress, noteAddress, readAddress } from '../../Sources/Dashboard/Web/address.js';
import { tabNamed } from '../../Sources/Dashboard/Web/detail.js';

test('an address says pane, argument and words, and is read as it was written', () => {
  for (const [hash, pane, argument, words] of [
    ['#notifications', 'notifications', undefined, {}], ['#notifications/17?q=it%27s+%22%3F%23%26+%C3%BC%22&tab=payload', 'notifications', '17', { q: 'it\'s "?#& ü"', tab: 'payload' }],
    ['#phone/a%2Fb%3Fc', 'phone', 'a/b?c', {}],
  ]) {
    assert.deepEqual(readAddress(hash), { pane, argument, words });
    assert.equal(addressOf(pane, argument, words), hash);
  }
});

test('an address without a pane is the list, and one that makes no sense is none', () => {
  assert.deepEqual(readAddress(''), { pane: 'notifications', argument: undefined, words: {} });
  assert.deepEqual(readAddress('#?q=x'), { pane: 'notifications', argument: undefined, words: { q: 'x' } });
  for (const hash of ['#a/b/c', '#a/%E0%A4', '#%']) assert.equal(readAddress(hash), null);
});

test('words without a value are left out', () => {
  assert.equal(addressOf('tokens', null, { q: '', state: undefined, verdict: 'rejected' }), '#tokens?verdict=rejected');
});

test('what is chosen is a step to go back from, what is passed over is none; a pane is left with what stays', t => {
  const steps = [];
  const go = kind => (_, __, address) => { steps.push([kind, address]); location.hash = address; };
  Object.assign(globalThis, { location: { hash: '' }, history: { pushState: go('push'), replaceState: go('replace') } });
  t.after(() => { delete globalThis.location; delete globalThis.history; });
  noteAddress('notifications', null, {});
  noteAddress('notifications', '5', { q: 'a' }, { tab: 'raw' }, true);
  noteAddress('notifications', '5', { q: 'a' }, { tab: 'raw' }, true);
  noteAddress('notifications', '6', { q: 'a' }, { tab: 'raw' });
  assert.deepEqual(steps, [['push', '#notifications/5?q=a&tab=raw'], ['replace', '#notifications/6?q=a&tab=raw']]);
  assert.equal(lastAddress('notifications'), '#notifications?q=a');
  assert.equal(lastAddress('tokens'), '#tokens');
  /* Browsers refuse more than so many a second. */
  history.replaceState = () => { throw new Error('too many'); };
  noteAddress('notifications', '7', { q: 'a' });
});

test('a tab that there is not is the first', () => {
  assert.deepEqual(['payload', 'Payload', 'nothing', undefined].map(tabNamed), ['Payload', 'Preview', 'Preview', 'Preview']);
});
