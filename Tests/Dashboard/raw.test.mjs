import assert from 'node:assert/strict';
import test from 'node:test';
import { frameFields } from '../../Sources/Dashboard/Web/raw.js';

const frame = hex => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const told = bytes => frameFields(bytes).map(({ name, value }) => `${name}: ${value}`);
const token = 'ab'.repeat(32);

/* Every byte belongs to one field, in order. */
function covers(bytes) {
  let at = 0;
  for (const { start, count } of frameFields(bytes)) {
    assert.equal(start, at);
    at += count;
  }
  assert.equal(at, bytes.length);
}

test('command 0: token and payload with their lengths', () => {
  const bytes = frame(`00 0020 ${token} 0002 7b7d`);
  assert.deepEqual(told(bytes), ['command: 0', 'device token length: 32 bytes', 'device token: abababab…abab', 'payload length: 2 bytes', 'payload: 2 bytes of JSON']);
  covers(bytes);
});

test('command 1: identifier and expiration come first', () => {
  const bytes = frame(`01 0000004d 713fb300 0020 ${token} 0002 7b7d`);
  assert.deepEqual(told(bytes).slice(0, 3), ['command: 1', 'identifier: 77', 'expiration: 1900000000, 2030-03-17 17:46:40']);
  assert.equal(told(frame(`01 00000001 00000000 0020 ${token} 0000`))[2], 'expiration: 0, not to be stored');
  covers(bytes);
});

test('command 2: items in any order, unknown ones too', () => {
  const bytes = frame(`02 00000036 05 0001 0a 01 0020 ${token} 02 0002 7b7d 03 0004 00000007 09 0000`);
  assert.deepEqual(told(bytes).filter(line => /^(item|priority|identifier):/.test(line)),
    ['item: 5 priority', 'priority: 10', 'item: 1 device token', 'item: 2 payload', 'item: 3 identifier', 'identifier: 7', 'item: 9 unknown']);
  covers(bytes);
});

test('what is cut off ends the fields, wherever it is', () => {
  for (const whole of [frame(`01 0000004d 713fb300 0020 ${token} 0002 7b7d`), frame(`02 0000002b 01 0020 ${token} 02 0002 7b7d`)]) {
    for (let length = 1; length <= whole.length; length += 1) covers(whole.subarray(0, length));
  }
});
