// An emulator's beginning and end, and several at once.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import path from "node:path";
import test from "node:test";
import { promisify } from "node:util";

import { Emulator, EmulatorError, binaryPath, startEmulator } from "apns-emulator";

// Starts one, tells where it is, and is killed before it can tidy up.
const victim = `
  const { startEmulator } = require("apns-emulator");
  startEmulator().then((emulator) => {
    console.log(JSON.stringify([emulator.console.port, emulator.certsPath]));
    process.stdin.once("data", () => process.kill(process.pid, "SIGKILL"));
  });
`;

function connect({ host, port }) {
  const socket = net.connect(port, host);
  return new Promise((resolve, reject) => socket.on("connect", () => resolve(socket)).on("error", reject));
}

test("all listeners are open, and closed at the end", async () => {
  const emulator = await startEmulator();
  const addresses = ["gateway", "feedback", "provider", "courier", "console", "proxy"].map((name) => emulator[name]);
  for (const address of addresses) (await connect(address)).destroy();
  assert.match(emulator.ca, /^-----BEGIN CERTIFICATE-----/);
  assert.equal(`${emulator.console}`, `127.0.0.1:${emulator.console.port}`);
  await emulator.stop();
  await emulator.stop();
  for (const address of addresses) await assert.rejects(connect(address), { code: "ECONNREFUSED" });
  assert.ok(!fs.existsSync(path.dirname(emulator.certsPath)));
  assert.throws(() => emulator.notifications(), EmulatorError);
});

test("several, started at once, have one authority and nothing else in common", async (t) => {
  const [one, other] = await Promise.all([startEmulator(), startEmulator()]);
  t.after(() => Promise.all([one.stop(), other.stop()]));
  assert.equal(one.ca, other.ca);
  await one.device("phone-1", "com.example.app");
  const counts = await Promise.all([one, other].map(async ({ consoleAPI }) => (await consoleAPI.get("/api/v1/tokens")).tokens.length));
  assert.deepEqual(counts, [1, 0]);
});

test("settings are flags of serve", async (t) => {
  const settings = { environment: "production", tokenSeed: "seed" };
  const one = await startEmulator({ ...settings, lenient: true, withoutBroadcast: ["a.b", "c.d"] });
  const other = await startEmulator({ ...settings, arguments: ["--flood-limit", "3"] });
  t.after(() => Promise.all([one.stop(), other.stop()]));
  assert.equal(one.environment, "production");
  const tokens = await Promise.all([one, other].map(async (emulator) => (await emulator.device("phone-1", "a.b")).token));
  assert.equal(tokens[0], tokens[1]);
});

test("a flag that is none is told with what was meant", async () => {
  await assert.rejects(startEmulator({ enviroment: "production" }), /did not start[^]*--environment/);
});

test("a program that is none is told", async () => {
  await assert.rejects(startEmulator({ binary: "/nowhere" }), /\/nowhere can't be run/);
});

test("what stands at the end of a block can end it", async () => {
  const emulator = await startEmulator();
  await emulator[Symbol.asyncDispose]();
  await assert.rejects(connect(emulator.console), { code: "ECONNREFUSED" });
});

test("none is left when this process is killed", async () => {
  const child = spawn(process.execPath, ["-e", victim], { stdio: ["pipe", "pipe", "inherit"] });
  const [port, certs] = JSON.parse((await once(child.stdout, "data"))[0]);
  // Open as long as the emulator is.
  const socket = await connect({ host: "127.0.0.1", port });
  socket.write("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(socket, "data");
  child.stdin.write("x");
  assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
  socket.resume();
  await once(socket, "close");
  assert.ok(!fs.existsSync(path.dirname(certs)));
});

test("a program that forgets to stop one can end, and takes it along", async () => {
  const text = 'require("apns-emulator").startEmulator().then(({ certsPath }) => console.log(certsPath))';
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", text], { timeout: 30_000 });
  assert.ok(stdout.includes("certs"));
});

test("one that has ended by itself is told with its last words", async (t) => {
  const emulator = await startEmulator();
  t.after(() => emulator.stop());
  fs.appendFileSync(emulator.logPath, "out of luck\n");
  const socket = await connect(emulator.console);
  const closed = new Promise((resolve) => socket.on("error", () => {}).on("close", resolve).resume());
  process.kill(JSON.parse(fs.readFileSync(emulator.variables.APNS_EMULATOR_PORTS_FILE)).pid, "SIGKILL");
  await closed;
  await assert.rejects(emulator.notifications(), /does not answer[^]*out of luck/);
});

test("its variables name one bundle for whoever asks whom to trust", async (t) => {
  const emulator = await startEmulator();
  t.after(() => emulator.stop());
  const bundles = new Set(["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"].map((name) => emulator.variables[name]));
  assert.equal(bundles.size, 1);
  assert.ok(fs.readFileSync([...bundles][0], "utf8").startsWith(emulator.ca));
  assert.equal(emulator.variables.APNS_EMULATOR_CA, emulator.caPath);
});

test("a command finds it by its variables", async (t) => {
  const emulator = await startEmulator();
  t.after(() => emulator.stop());
  const environment = { ...process.env, ...emulator.variables };
  await promisify(execFile)(binaryPath(), ["push", "phone-1", "com.example.app", "{}"], { env: environment });
  assert.ok((await emulator.waitForPush({ topic: "com.example.app" })).accepted);
});

test("it can be required as well as imported", () => {
  const required = createRequire(import.meta.url)("apns-emulator");
  assert.equal(required.startEmulator, startEmulator);
  assert.equal(required.Emulator, Emulator);
});
