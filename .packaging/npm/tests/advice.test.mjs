// Advice about a provider of the binary protocol that believes its writes: behind a rejected push all is lost.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import tls from "node:tls";

import { ConsoleError, startEmulator } from "apns-emulator";

const topic = "com.example.app";
const unknown = "ab".repeat(32);
let emulator, device, certificate;

before(async () => {
  emulator = await startEmulator();
  device = await emulator.device("phone-1", topic);
  certificate = await emulator.issueCertificate(topic);
});
after(() => emulator.stop());

/** Bytes of a number. */
function number(value, size) {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return bytes;
}

/** A push of command 2: token, payload, identifier, expiration, priority. */
function frame(identifier, token) {
  const values = [Buffer.from(token, "hex"), Buffer.from(JSON.stringify({ aps: { alert: `${identifier}` } })), number(identifier, 4),
    number(2_000_000_000, 4), number(10, 1)];
  const items = Buffer.concat(values.flatMap((value, index) => [number(index + 1, 1), number(value.length, 2), value]));
  return Buffer.concat([number(2, 1), number(items.length, 4), items]);
}

/** Sends all at once; resolves with the error packet when the gateway has closed. */
function send(tokens) {
  const { certificate: cert, privateKey: key } = certificate;
  const socket = tls.connect({ ...emulator.gateway, servername: "localhost", ca: emulator.ca, cert, key, maxVersion: "TLSv1.2" });
  const came = [];
  return new Promise((resolve, reject) => {
    socket.on("data", (bytes) => came.push(bytes)).on("error", reject).on("close", () => resolve(Buffer.concat(came)));
    socket.write(Buffer.concat(tokens.map((token, index) => frame(index + 1, token))));
  });
}

test("what was lost behind a rejected push is told, until it is forgotten", async () => {
  assert.deepEqual(await emulator.advice({ severity: "error" }), []);
  assert.deepEqual(await send([unknown, ...Array(9).fill(device.token)]), Buffer.from([8, 8, 0, 0, 0, 1]));
  const found = await emulator.advice();
  const lost = found.find(({ id }) => id === "lost-after-error");
  assert.deepEqual([lost.severity, lost.count, lost.interface, lost.connections, lost.peer], ["error", 9, "gateway", 1, "127.0.0.1"]);
  assert.match(lost.credential, /com\.example\.app/);
  assert.match(lost.sentence, /9/);
  assert.ok(lost.remedy && lost.first <= lost.last);
  assert.deepEqual([lost.faults, lost.evidence], [{}, { page: "Documentation/advice.md", heading: "lost-after-error" }]);
  assert.deepEqual(await emulator.advice({ id: "lost-after-error", interface: "gateway" }), [lost]);
  assert.deepEqual(await emulator.advice({ id: "lost-after-error", interface: "provider" }), []);
  await emulator.reset("advice");
  assert.deepEqual(await emulator.advice({ severity: "error" }), []);
});

test("a severity that is none is refused", async () => {
  await assert.rejects(emulator.advice({ severity: "fatal" }), ConsoleError);
});
