import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { commandFor, commandProblem, editProblem, pushOf, replayProblem } from '../../Sources/Dashboard/Web/resend.js';
import { quote } from '../../Sources/Dashboard/Web/shell.js';
import { store } from '../../Sources/Dashboard/Web/store.js';

const token = 'ab'.repeat(32);
const pushed = (more = {}) => ({
  interface: 'provider', topic: 'com.example.app', token, environment: 'sandbox', payloadBase64: btoa('{"aps":{"alert":"it\'s"}}'),
  priority: 10, pushType: 'alert', expiration: null, collapseId: null, command: null, identifier: null, channelId: null,
  headers: [{ name: ':path', value: `/3/device/${token}` }, { name: 'apns-topic', value: 'com.example.app' }, { name: 'authorization', value: 'bearer x' }, { name: 'apns-id', value: '' }],
  ...more,
});
const broadcast = (more = {}) => pushed({ token: '', headers: [{ name: ':path', value: '/4/broadcasts/apps/com.example.app' }], channelId: 'AAAA', ...more });
const info = {
  certificates: ['com.example.app'], certs: '/a b', ca: '/a b/ca.pem', environment: 'sandbox',
  listeners: { gateway: { host: '127.0.0.1', port: 2195 }, provider: { host: '127.0.0.1', port: 2197 } },
};

/* What a shell makes of a command: its words. */
const words = command => execFileSync('bash', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`]).toString().split('\0').slice(0, -1);

test.beforeEach(() => { store.info = structuredClone(info); });
test.after(() => { store.info = null; });

test('a quoted text is one word of the same characters', () => {
  for (const text of ["it's", '$HOME `x` \\ "', 'a\nb', "''", '-n']) {
    assert.equal(execFileSync('bash', ['-c', `printf '%s' ${quote(text)}`]).toString(), text);
  }
});

test('a push is copied with its fields but those that curl or its certificate give', () => {
  const found = words(commandFor(pushed()));
  const fields = found.filter((_, index) => found[index - 1] === '-H');
  assert.deepEqual(fields, ['apns-topic: com.example.app', 'apns-id;']);
  assert.equal(found[found.indexOf('--data-raw') + 1], '{"aps":{"alert":"it\'s"}}');
  assert.equal(found[found.indexOf('--cert') + 1], '/a b/push/com.example.app.pem');
  assert.equal(found.at(-1), `https://localhost:2197/3/device/${token}`);
});

test('the other environment is named as Apple names it', () => {
  const found = words(commandFor(pushed({ environment: 'production' })));
  assert.equal(found.at(-1), `https://api.push.apple.com/3/device/${token}`);
  assert.equal(found[found.indexOf('--connect-to') + 1], '::localhost:2197');
});

test('bytes that are no text are piped in', () => {
  const command = commandFor(pushed({ payloadBase64: 'AP8n' }));
  assert.ok(command.startsWith("printf '\\000\\377\\047' | curl ") && command.includes('--data-binary @-'), command);
});

test('a frame is copied as openssl, to the port it came in on', () => {
  const command = commandFor(pushed({ interface: 'gateway', rawBase64: 'AAE=', command: 2 }));
  assert.ok(command.startsWith("(printf '\\000\\001'; sleep 1) | openssl s_client "), command);
  assert.ok(command.includes('-connect 127.0.0.1:2195 -servername gateway.sandbox.push.apple.com '), command);
});

test('a refused push of which only the beginning is here is not sent again in any way', () => {
  for (const cut of [{ truncated: true, payloadSize: 65536 }, { truncated: true, payloadSize: 65536, interface: 'gateway', command: 2 }]) {
    for (const problem of [replayProblem(pushed(cut)), commandProblem(pushed(cut))]) {
      assert.match(problem, /^The history has only the beginning of this push\. .* 65536 bytes/);
    }
  }
});

test('what can not be sent again says why', () => {
  assert.equal(commandProblem(pushed()), null);
  assert.equal(replayProblem(pushed()), null);
  assert.match(replayProblem(pushed({ token: '' })), /without a device token/);
  assert.match(replayProblem(pushed({ topic: null })), /without a topic/);
  assert.match(replayProblem(broadcast()), /goes to a channel/);
  assert.equal(commandProblem(broadcast()), null);
  store.info.certificates = [];
  assert.match(commandProblem(broadcast()), /no push certificate for com.example.app/);
  delete store.info.listeners.provider;
  assert.match(commandProblem(broadcast()), /provider port is off/);
});

test('bytes that are no text are replayed as they came, and not edited', () => {
  const bytes = pushed({ payloadBase64: 'AP8n' });
  assert.match(editProblem(bytes), /not UTF-8/);
  assert.deepEqual([replayProblem(bytes), editProblem(pushed()), editProblem(pushed({ payloadBase64: '' }))], [null, null, null]);
  assert.match(editProblem(pushed({ token: '' })), /without a device token/);
});

test('a replay says what was said before', () => {
  const gone = { payloadBase64: pushed().payloadBase64, token, topic: 'com.example.app', environment: 'sandbox', priority: 10 };
  assert.deepEqual(pushOf(pushed({ collapseId: 'c', expiration: '2030-03-17T17:46:40Z' })),
    { protocol: 'http2', ...gone, expiration: 1900000000, collapseId: 'c', pushType: 'alert' });
  assert.deepEqual(pushOf(pushed({ interface: 'gateway', command: 0 })), { protocol: 'legacy', ...gone, command: 0, identifier: 0 });
});
