// Sending, waiting, faults, the clock, a phone.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import tls from "node:tls";

import { ConsoleError, NoPush, startEmulator } from "apns-emulator";

import { push } from "./provider.mjs";

const topic = "com.example.app";
let emulator, key, device;

before(async () => {
  emulator = await startEmulator();
  key = await emulator.issueKey();
});
after(() => emulator.stop());
beforeEach(async () => {
  await emulator.reset();
  device = await emulator.device("phone-1", topic);
});

const send = (alert, fields) => push(emulator, key, device.token, alert, fields);

test("a push is told as it was sent", async () => {
  assert.equal(await send("Grüße", { "apns-collapse-id": "one", "apns-priority": "5" }), 200);
  const told = await emulator.waitForPush({ token: device.token });
  assert.ok(told.accepted && told.reason === null && told.status === 200);
  assert.deepEqual([told.topic, told.udid, told.interface, told.state], [topic, "phone-1", "provider", "stored"]);
  assert.deepEqual([told.priority, told.collapseId, told.pushType], [5, "one", "alert"]);
  assert.deepEqual(told.payload, { aps: { alert: "Grüße" } });
  assert.deepEqual(JSON.parse(told.rawPayload), told.payload);
  assert.ok(Math.abs(told.receivedAt - Date.now()) < 60_000);
  assert.deepEqual(await emulator.notifications(), [told]);
  assert.deepEqual(await emulator.notifications({ topic: "com.example.other" }), []);
});

test("who waits is told of what comes later", async () => {
  const [told] = await Promise.all([emulator.waitForPush({ topic, timeout: 30_000 }), send("Hello")]);
  assert.ok(told.accepted);
});

test("who waits in vain is told what came instead", async () => {
  await send("Shipped");
  await assert.rejects(emulator.waitForPush({ topic: "com.example.shop", timeout: 50 }), (error) => {
    assert.ok(error instanceof NoPush);
    assert.match(error.message, /^0 of 1 pushes came within 50 ms \({"topic":"com.example.shop"}\)/);
    assert.match(error.message, /com.example.app to phone-1: accepted, stored, .*Shipped/);
    assert.match(error.message, /topic is "com.example.app", not "com.example.shop"/);
    return true;
  });
});

test("several are answered in their order, and what is missing is told", async () => {
  for (const alert of ["0", "1", "2"]) await send(alert);
  const told = await emulator.waitForPushes(3, { topic });
  assert.deepEqual(told.map(({ payload }) => payload.aps.alert), ["0", "1", "2"]);
  await assert.rejects(emulator.waitForPushes(4, { topic, timeout: 50 }), /3 of 4 pushes came/);
});

test("a filter that is none is no push that failed to come", async () => {
  await assert.rejects(emulator.waitForPush({ colour: "blue" }), ConsoleError);
});

test("a fault strikes as often as it should", async () => {
  const busy = await emulator.faults.add("busy", { reason: "ServiceUnavailable" }, { next: 2, interface: "provider" });
  assert.deepEqual([await send(), await send(), await send()], [503, 503, 200]);
  assert.equal(await busy.hits(), 2);
  assert.deepEqual((await emulator.notifications()).map(({ fault }) => fault), ["busy", "busy", null]);
});

test("a fault can be switched off, and removed", async () => {
  const fault = await emulator.faults.addPreset("throttled");
  assert.equal(await send(), 429);
  await fault.enable(false);
  assert.equal(await send(), 200);
  assert.deepEqual((await emulator.faults.list()).map(({ name }) => name), [fault.name]);
  await fault.remove();
  await fault.remove();
  assert.deepEqual(await emulator.faults.list(), []);
  await assert.rejects(emulator.faults.add("wrong", { reason: "NoSuchReason" }), ConsoleError);
});

test("time can be moved", async () => {
  const { clock } = emulator;
  await clock.freeze();
  const start = await clock.now();
  await clock.advance("61m");
  await clock.advance(-60_000);
  assert.equal(await clock.now() - start, 3_600_000);
  const noon = new Date("2030-01-02T12:00:00Z");
  await clock.set(noon);
  assert.deepEqual((await emulator.send(device.token, topic, { aps: {} })).receivedAt, noon);
  await clock.reset();
  assert.ok(await clock.now() < noon);
});

test("a phone gets what is sent and what was kept", async () => {
  await send("kept");
  await device.connect();
  const kept = await device.nextMessage();
  assert.ok(kept.fromStore && kept.payload.aps.alert === "kept");
  await send("live");
  assert.equal((await device.nextMessage()).payload.aps.alert, "live");
  assert.equal((await emulator.waitForPush({ state: "delivered", q: "live" })).udid, "phone-1");
  await assert.rejects(device.nextMessage(50), /no notification came to phone-1/);
  await device.disconnect();
});

test("an app that is gone is told with 410", async () => {
  const old = device.token;
  await device.connect();
  await device.remove(topic);
  await push(emulator, key, old);
  await emulator.waitForPush({ token: old, state: "discarded" });
  assert.equal(await push(emulator, key, old), 410);
  assert.notEqual(await device.install(topic), old);
  assert.equal(await device.reinstall(topic), device.token);
});

test("a certificate is for the gateway, and a key has its file", async () => {
  const certificate = await emulator.issueCertificate(topic);
  assert.equal(fs.readFileSync(certificate.path, "utf8"), certificate.certificate);
  assert.ok(fs.existsSync(certificate.p12Path));
  assert.equal(fs.readFileSync(key.path, "utf8"), key.p8);
  const socket = tls.connect({
    ...emulator.gateway, servername: "localhost", ca: emulator.ca, cert: certificate.certificate, key: certificate.privateKey,
  });
  await new Promise((resolve, reject) => socket.on("secureConnect", resolve).on("error", reject));
  assert.equal(socket.getProtocol(), "TLSv1.2");
  socket.destroy();
});
