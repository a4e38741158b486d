// Run by `apns-emulator exec`, which tells in the environment where the emulator is.
import assert from "node:assert/strict";
import { once } from "node:events";
import fs from "node:fs";
import net from "node:net";
import { after, before, beforeEach, test } from "node:test";

import { APNs, ProviderToken } from "./apns.mjs";
import { fromFCM, fromSNS } from "./relay.mjs";

const topic = "com.example.app";
const api = `http://${process.env.APNS_EMULATOR_CONSOLE}/api/v1`;
const provider = `https://localhost:${process.env.APNS_EMULATOR_PROVIDER.split(":").at(-1)}`;
const ca = fs.readFileSync(process.env.APNS_EMULATOR_CA);
let key, token, client;

async function post(path, body = {}) {
  const response = await fetch(api + path,
    { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  assert.ok(response.ok, await response.clone().text());
  return response.json();
}

const pushed = async () => (await (await fetch(`${api}/notifications`)).json()).notifications;

before(async () => {
  const { keyId, team, p8 } = await post("/keys", { team: "TEAM123456" });
  key = { keyId, teamId: team, p8 };
});
beforeEach(async () => {
  await post("/reset");
  ({ token } = await post(`/devices/phone-1/apps/${topic}/install`));
  client?.close();
  client = new APNs({ hosts: [provider], ca, key });
});
after(() => client.close());

test("a push is accepted, and one that is wrong is told why", async () => {
  const { status, apnsId } = await client.push(token, { aps: { alert: "Hello" } }, { "apns-topic": topic });
  assert.equal(status, 200);
  assert.equal((await pushed())[0].apnsId.toLowerCase(), apnsId.toLowerCase());
  assert.equal((await client.push(token, {}, { "apns-topic": "com.example.other" })).reason, "DeviceTokenNotForTopic");
});

test("a host that can't be reached is left for the second, which stays the first", async (t) => {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const dead = `https://localhost:${server.address().port}`;
  server.close();
  await once(server, "close");
  const twoHosts = new APNs({ hosts: [dead, provider], ca, key });
  t.after(() => twoHosts.close());
  for (let number = 0; number < 2; number++) {
    assert.equal((await twoHosts.push(token, { number }, { "apns-topic": topic })).status, 200);
    assert.equal(twoHosts.host, provider);
  }
  const noHost = new APNs({ hosts: [dead], ca, key });
  await assert.rejects(noHost.push(token, {}, { "apns-topic": topic }), { code: "ECONNREFUSED" });
});

test("a push that a lost connection has left without an answer is sent again", async () => {
  await post("/faults", { name: "lost", when: { next: 1 }, effect: { reset: true } });
  assert.equal((await client.push(token, { aps: {} }, { "apns-topic": topic })).status, 200);
  assert.deepEqual((await pushed()).map(({ verdict }) => verdict.status), [null, 200]);
});

test("a connection that is ended in order is followed by another one", async () => {
  await post("/faults", { name: "goaway", when: { next: 1 }, effect: { goaway: { reason: "Shutdown" } } });
  const results = [];
  for (let number = 0; number < 3; number++) results.push(await client.push(token, { number }, { "apns-topic": topic }));
  assert.deepEqual(results.map(({ status }) => status), [200, 200, 200]);
});

test("the provider token is renewed after fifty minutes, and not before", () => {
  const provided = new ProviderToken(key);
  const start = Date.now();
  const first = provided.text(start);
  assert.equal(provided.text(start + 49 * 60_000), first);
  assert.notEqual(provided.text(start + 51 * 60_000), first);
});

test("a message for SNS reaches Apple as SNS would send it", async () => {
  const payload = { aps: { alert: "Shipped", sound: "default" }, order: 17 };
  const message = JSON.stringify({ default: "Shipped", APNS_SANDBOX: JSON.stringify(payload) });
  const string = (StringValue) => ({ DataType: "String", StringValue });
  const made = fromSNS(message, {
    "AWS.SNS.MOBILE.APNS.TOPIC": string(topic), "AWS.SNS.MOBILE.APNS.PUSH_TYPE": string("alert"),
    "AWS.SNS.MOBILE.APNS.COLLAPSE_ID": string("order-17"), "AWS.SNS.MOBILE.APNS.TTL": string("3600"),
  });
  assert.equal((await client.push(token, made.payload, made.fields)).status, 200);
  const [push] = await pushed();
  assert.deepEqual([push.payload, push.collapseId, push.pushType], [payload, "order-17", "alert"]);
  const seconds = (Date.parse(push.expiration) - Date.parse(push.receivedAt)) / 1000;
  assert.ok(seconds > 3590 && seconds <= 3600, `expires after ${seconds} s`);
  assert.deepEqual(fromSNS('{"default": "Hello"}').payload, { aps: { alert: "Hello" } });
});

test("a message for FCM reaches Apple as FCM would send it", async () => {
  const { payload, fields } = fromFCM({
    message: {
      notification: { title: "Order 17", body: "Shipped" },
      data: { order: "17" },
      apns: {
        headers: { "apns-priority": "5", "apns-topic": topic, "apns-collapse-id": "order-17" },
        payload: { aps: { badge: 1 } },
        fcm_options: { image: "https://example.com/parcel.png" },
      },
    },
  }, "1700000000000000");
  assert.equal((await client.push(token, payload, fields)).status, 200);
  const [push] = await pushed();
  assert.deepEqual(push.payload, {
    aps: { alert: { title: "Order 17", body: "Shipped" }, badge: 1, "mutable-content": 1 },
    "gcm.message_id": "1700000000000000", order: "17", fcm_options: { image: "https://example.com/parcel.png" },
  });
  assert.deepEqual([push.priority, push.collapseId], [5, "order-17"]);
});
