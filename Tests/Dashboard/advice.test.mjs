import assert from 'node:assert/strict';
import test from 'node:test';
import { keyOf, nothingWords, whoOf } from '../../Sources/Dashboard/Web/advice.js';

const finding = more => ({ id: 'no-push-type', provider: { interface: 'provider', credential: 'certificate of com.example.app', peer: '127.0.0.1' }, ...more });

test('what is not wrong is told with how much was seen', () => {
  assert.deepEqual([0, 1, 1234].map(nothingWords), ['Nothing to say about 0 pushes', 'Nothing to say about 1 push', 'Nothing to say about 1,234 pushes']);
});

test('whom a finding is about, as far as that is known', () => {
  assert.equal(whoOf(finding()), 'HTTP/2 · certificate of com.example.app · 127.0.0.1');
  assert.equal(whoOf(finding({ provider: { interface: 'gateway', credential: '', peer: '::1' }, node: 'node-2' })), 'gateway · ::1 · at node-2');
});

test('findings of one rule about two providers are two', () => {
  const others = [{ id: 'old-tls' }, { node: 'node-1' }, { provider: { interface: 'provider', credential: '', peer: '127.0.0.1' } }];
  assert.equal(new Set([finding(), ...others.map(finding)].map(keyOf)).size, 4);
  assert.equal(keyOf(finding()), keyOf(finding({ count: 7 })));
});

test('two payload problems of one provider are two findings, however often each was seen', () => {
  const payload = sentence => keyOf(finding({ id: 'payload', sentence }));
  const [badge, sound] = ['3 of the payloads looked at have this problem: a badge that is no number.', '3 of the payloads looked at have this problem: a sound that is too long.'];
  assert.notEqual(payload(badge), payload(sound));
  assert.equal(payload(badge), payload(badge.replace('3 of the payloads looked at have', '1 of the payloads looked at has')));
});
