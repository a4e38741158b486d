"use strict";
// Apple's push service as one object.

const fs = require("node:fs");
const path = require("node:path");

const { listFindings } = require("./advice.js");
const { Console } = require("./console.js");
const { Device } = require("./devices.js");
const { Clock, Faults } = require("./faults.js");
const { EmulatorError, EmulatorProcess, flags, listeners } = require("./process.js");
const { listPushes, push, waitForPushes } = require("./pushes.js");

// Node 18 has it in its later versions only.
const asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");

/** Starts an emulator on free ports of 127.0.0.1. Settings are flags of `apns-emulator serve`, in camel case. */
async function startEmulator({ arguments: words = [], binary, patience, ...settings } = {}) {
  const running = await EmulatorProcess.start([...words, ...flags(settings)], { binary, patience });
  const emulator = new Emulator(running);
  try {
    emulator.environment = (await emulator.consoleAPI.get("/api/v1/info")).environment;
  } catch (error) {
    await emulator.stop();
    throw error;
  }
  return emulator;
}

class Emulator {
  #process;
  #console;
  /** Devices that are switched on. */
  connected = new Set();
  environment = "sandbox";

  constructor(running) {
    this.#process = running;
    const { ports, access, certs, log } = running;
    for (const listener of listeners) this[listener] = ports[listener] && address(ports[listener]);
    Object.assign(this, { caPath: ports.ca, certsPath: certs, logPath: log });
    this.#console = ports.console && new Console(ports.console, access, () => running.logTail());
    this.faults = new Faults(this.#console);
    this.clock = new Clock(this.#console);
  }

  /** The console's API, for what has no method here. */
  get consoleAPI() {
    if (!this.#process) throw new EmulatorError("the emulator is not running");
    if (!this.#console) throw new EmulatorError("the console is off, and nothing can be asked without it");
    return this.#console;
  }

  /** The authority that clients have to trust, in PEM: `http2.connect(url, { ca: emulator.ca })`. */
  get ca() { return fs.readFileSync(this.caPath, "utf8"); }

  /** What a command finds this emulator by, as `apns-emulator exec --proxy` sets it. */
  get variables() {
    const { access, portsFile } = this.#process;
    const told = Object.fromEntries(
      listeners.filter((name) => this[name]).map((name) => [`APNS_EMULATOR_${name.toUpperCase()}`, String(this[name])]));
    Object.assign(told, {
      APNS_EMULATOR_PORTS_FILE: portsFile, APNS_EMULATOR_CERTS: this.certsPath, APNS_EMULATOR_CA: this.caPath,
    });
    // Our authority and the system's, where the certs folder could be written to.
    const bundle = path.join(this.certsPath, "ca-bundle.pem");
    const trusted = fs.existsSync(bundle) ? bundle : this.caPath;
    for (const name of ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"]) told[name] = trusted;
    if (access) told.APNS_EMULATOR_ACCESS = access;
    if (this.proxy) {
      told.HTTPS_PROXY = told.https_proxy = `http://${access ? `access:${access}@` : ""}${this.proxy}`;
      told.NO_PROXY = told.no_proxy = "localhost,127.0.0.1,::1";
    }
    return told;
  }

  /** A new token key of a team, for some topics only if any are given. */
  async issueKey({ team = "TEAM123456", topics = [] } = {}) {
    const made = await this.consoleAPI.post("/api/v1/keys", { team, ...(topics.length ? { topics } : {}) });
    const file = path.join(this.certsPath, "keys", `AuthKey_${made.keyId}.p8`);
    return { keyId: made.keyId, teamId: made.team, topics: made.topics, p8: made.p8, path: file };
  }

  /** A new push certificate for these topics, and for those that belong to them. */
  async issueCertificate(...topics) {
    const { certificate, privateKey } = await this.consoleAPI.post("/api/v1/certificates", { topics });
    const [file, keyPath, p12Path] = ["pem", "key", "p12"].map((end) => path.join(this.certsPath, "push", `${topics[0]}.${end}`));
    return { topics, certificate, privateKey, path: file, keyPath, p12Path };
  }

  /** A phone with these apps installed. Asked for again under the same name it is the same phone. */
  async device(udid = "phone-1", ...topics) {
    const device = new Device(this, udid);
    for (const topic of topics) await device.install(topic);
    return device;
  }

  /** What providers have sent since the last reset, oldest first. */
  notifications(filters = {}) { return listPushes(this.consoleAPI, filters); }

  /** Waits for a push that fits; one that came before counts too. Throws NoPush, which says what came instead. */
  async waitForPush(filters = {}) { return (await this.waitForPushes(1, filters))[0]; }

  /** The same for several, which are answered in the order in which they came. */
  waitForPushes(count, filters = {}) { return waitForPushes(this.consoleAPI, count, filters); }

  /** Sends a push as a provider with a certificate for the topic would, with the same checks and faults. */
  async send(token, topic, payload, fields = {}) {
    return push(await this.consoleAPI.post("/api/v1/push", { token, topic, payload, ...fields }));
  }

  /** What providers have done against Apple's advice since the last reset, the worst first. What was lost and not sent again by now
   * counts as lost. */
  advice(filters = {}) { return listFindings(this.consoleAPI, filters); }

  /** Forgets all but keys and certificates, or what is named: `"notifications"`, `"faults"`, … */
  async reset(...what) {
    if (what.length === 0 || what.includes("devices")) await this.#switchOff();
    await this.consoleAPI.post("/api/v1/reset", what.length ? { what } : {});
  }

  /** Ends it in order: resolves when every port is closed and its folder is removed. Twice is the same as once. */
  async stop() {
    await this.#switchOff();
    const running = this.#process;
    this.#process = undefined;
    await running?.stop();
  }

  [asyncDispose]() { return this.stop(); }

  /** The beginning of a command line of the program that talks to this emulator. */
  command(name) { return [this.#process.binary, name, "--ports-file", this.#process.portsFile]; }

  async #switchOff() { await Promise.all([...this.connected].map((device) => device.disconnect())); }
}

/** Where a listener is; as text `host:port`. */
function address({ host, port }) {
  return { host, port, toString: () => host.includes(":") ? `[${host}]:${port}` : `${host}:${port}` };
}

module.exports = { Emulator, startEmulator };
