import assert from 'node:assert/strict';
import test from 'node:test';
import { base64Of, bytesOf, clockTime, compact, dateTime, duration, headline, hexOf, outcomeOf, purpose, refusalOf, sentence, short, textOf } from '../../Sources/Dashboard/Web/format.js';

test('times are in UTC, and what is no time stays as it came', () => {
  assert.equal(clockTime('2026-01-02T03:04:05.678Z'), '03:04:05.678');
  assert.equal(dateTime('2026-01-02T03:04:05.678+02:00'), '2026-01-02 01:04:05');
  assert.equal(dateTime(null), '–');
  assert.equal(clockTime('soon'), 'soon');
  assert.equal(dateTime('soon'), 'soon');
});

test('durations have three parts at most, and seconds only below a day', () => {
  const minute = 60000, hour = 60 * minute, day = 24 * hour;
  assert.deepEqual([0, 999, 1500, minute, 90 * minute, 2 * day + 3 * hour + 4 * minute, -hour].map(duration),
    ['0 ms', '999 ms', '1.5 s', '1 min 0 s', '1 h 30 min 0 s', '2 d 3 h 4 min', '-1 h 0 s']);
});

test('what is rounded up counts to the next part', () => {
  assert.deepEqual([3659999, 59990, 86399990, -119999].map(duration), ['1 h 1 min 0 s', '1 min 0 s', '1 d', '-2 min 0 s']);
});

test('counts are short where there is little room', () => {
  assert.deepEqual([0, 99999, 100000, 1234567].map(compact), ['0', '99999', '100K', '1.2M']);
});

test('tokens are shortened, other words not', () => {
  assert.equal(short('ab'.repeat(32)), 'abababab…abab');
  assert.equal(short('ab'.repeat(10)), 'ab'.repeat(10));
});

test('bytes go to base64 and back, whatever they are', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
  assert.deepEqual(bytesOf(base64Of(bytes)), bytes);
  assert.equal(base64Of(bytes), Buffer.from(bytes).toString('base64'));
  assert.equal(hexOf(bytes.slice(0, 17)), '000102030405060708090a0b0c0d0e0f10');
  assert.equal(textOf(Buffer.from('grüß')), 'grüß');
  assert.equal(bytesOf(null).length, 0);
});

test('a list shows the words of the alert, or what else the push is', () => {
  const of = (payload, payloadBase64 = 'e30=') => headline({ payload, payloadBase64 });
  assert.equal(of({ aps: { alert: 'Hello' } }), 'Hello');
  assert.equal(of({ aps: { alert: { title: 'A', subtitle: 'B', body: 'C' } } }), 'A · B · C');
  assert.equal(of({ aps: { alert: { 'loc-key': 'NEWS' } } }), 'NEWS');
  assert.equal(of({ aps: { 'content-available': 1 } }), 'silent push');
  assert.equal(of({ aps: { badge: 0 } }), 'badge 0');
  assert.equal(of(null), 'payload that is not JSON');
  assert.equal(of(null, ''), 'no payload');
  assert.equal(of({ aps: 'text' }), '{"aps":"text"}');
  assert.equal(of([1]), '[1]');
});

test('a refusal names the reason, or the fault that kept the answer back', () => {
  const rejected = { verdict: { accepted: false, status: 400, reason: 'BadDeviceToken', fault: null } };
  const silent = { verdict: { accepted: false, status: null, reason: null, fault: { name: 'outage' } } };
  assert.equal(refusalOf(rejected), 'BadDeviceToken');
  assert.equal(outcomeOf(rejected), 'Rejected: BadDeviceToken');
  assert.equal(outcomeOf(silent), 'Not answered: fault outage');
  assert.equal(outcomeOf({ verdict: { accepted: true } }), 'Accepted');
  assert.equal(outcomeOf({ verdict: { accepted: true, status: null, fault: { name: 'lost' } } }), 'Accepted, not answered');
  assert.equal(sentence('the token is unknown'), 'The token is unknown');
  assert.deepEqual(['iOS knows no such key', 'aps has no alert'].map(sentence), ['iOS knows no such key', 'aps has no alert']);
});

test('a connection says what it is for, and what it asked the proxy for', () => {
  assert.equal(purpose({ streams: 0, serverName: 'api.push.apple.com', proxy: 'api.push.apple.com:443' }), '0 streams · proxy: api.push.apple.com:443');
  assert.equal(purpose({ streams: 1 }), '1 stream');
  assert.equal(purpose({ devices: ['phone-1', 'phone-2'], proxy: null }), 'phone-1, phone-2');
  assert.equal(purpose({ serverName: 'gateway.push.apple.com' }), 'gateway.push.apple.com');
  assert.equal(purpose({ requests: 3 }), '–');
});
