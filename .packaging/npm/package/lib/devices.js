"use strict";
// Somebody with a phone.

const { spawn } = require("node:child_process");
const { once } = require("node:events");
const { createInterface } = require("node:readline");

const { EmulatorError, stopPatience } = require("./process.js");
const { NoPush } = require("./pushes.js");

// Runs a command until the end of standard input, which comes when this process is killed, too.
const guard = '"$@" < /dev/null & exec > /dev/null 2>&1; cat; kill $!; wait';

/** A phone with apps. It is offline, and its newest notification stored for it, unless it is connected. */
class Device {
  #emulator;
  #connection;

  constructor(emulator, udid) {
    this.#emulator = emulator;
    this.udid = udid;
    this.tokens = {};
  }

  /** The token of its app, in hexadecimal; of the first one, if there are several. */
  get token() {
    const [token] = Object.values(this.tokens);
    if (!token) throw new EmulatorError(`no app is installed on ${this.udid}`);
    return token;
  }

  /** Installs an app as a person does, and answers its token. Twice is the same as once. */
  install(topic) { return this.#change(topic, "install"); }

  /** Removes it and installs it again: it has another token then, and the old one is gone. */
  reinstall(topic) { return this.#change(topic, "reinstall"); }

  /** Removes an app: its token is gone once the phone, connected, has said so, which it does when the next push comes for it. */
  async remove(topic) {
    await this.#act(`apps/${encodeURIComponent(topic)}/remove`);
    delete this.tokens[topic];
  }

  /** Removes all apps at once. */
  async erase() {
    await this.#act("erase");
    this.tokens = {};
  }

  /** Switches the phone on; resolves when it is known to the service, with a token for each app. */
  async connect(patience = 30_000) {
    if (this.#connection) return this;
    const topics = Object.keys(this.tokens);
    const connection = new Connection(this.#emulator, this.udid, topics);
    try {
      const deadline = Date.now() + patience;
      for (const missing = new Set(topics); missing.size > 0;) {
        const { topic, token } = await connection.next("token", deadline);
        this.tokens[topic] = token;
        missing.delete(topic);
      }
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.#connection = connection;
    this.#emulator.connected.add(this);
    return this;
  }

  /** Switches it off; what is sent now is kept for it. */
  async disconnect() {
    const connection = this.#connection;
    this.#connection = undefined;
    this.#emulator.connected.delete(this);
    await connection?.close();
  }

  /** The next message in order, each once; waits for one if need be. Throws NoPush if none came. */
  async nextMessage(timeout = 5000) {
    if (!this.#connection) throw new EmulatorError(`${this.udid} is not connected`);
    const { event, payloadBase64, ...told } = await this.#connection.next("notification", Date.now() + timeout);
    return { ...told, rawPayload: Buffer.from(payloadBase64, "base64") };
  }

  async #change(topic, verb) {
    const { token } = await this.#act(`apps/${encodeURIComponent(topic)}/${verb}`);
    this.tokens[topic] = token;
    return token;
  }

  #act(what) { return this.#emulator.consoleAPI.post(`/api/v1/devices/${encodeURIComponent(this.udid)}/${what}`); }
}

/** `apns-emulator device --json`: a line for each thing that happens. */
class Connection {
  #udid;
  #child;
  #events = [];
  #waiting;
  #lastLine = "nothing";
  #isOver = false;

  constructor(emulator, udid, topics) {
    this.#udid = udid;
    const words = [...emulator.command("device"), "--udid", udid, "--json", "--environment", emulator.environment];
    for (const topic of topics) words.push("--topic", topic);
    this.#child = spawn("sh", ["-c", guard, "sh", ...words],
      // Not the variables of an emulator that these tests may run in.
      { stdio: "pipe", detached: true, env: { ...process.env, ...emulator.variables } });
    for (const each of [this.#child, ...this.#child.stdio]) each.unref();
    const lines = createInterface({ input: this.#child.stdout });
    lines.on("line", (line) => {
      this.#lastLine = line;
      this.#tell(JSON.parse(line));
    });
    lines.on("close", () => {
      this.#isOver = true;
      this.#waiting?.();
    });
    this.#child.stderr.on("data", (chunk) => { this.#lastLine = String(chunk).trim(); });
  }

  #tell(event) {
    this.#events.push(event);
    this.#waiting?.();
  }

  async next(name, deadline) {
    for (;;) {
      while (this.#events.length > 0) {
        const event = this.#events.shift();
        if (event.event === name) return event;
      }
      if (this.#isOver) throw new EmulatorError(`${this.#udid} ended: ${this.#lastLine}`);
      if (!await this.#change(deadline - Date.now())) {
        throw new NoPush(`no ${name} came to ${this.#udid} in time; the last it told was ${this.#lastLine}`);
      }
    }
  }

  /** Whether something happened in so many milliseconds. */
  #change(patience) {
    return new Promise((resolve) => {
      const settle = (value) => {
        clearTimeout(timer);
        this.#waiting = undefined;
        resolve(value);
      };
      const timer = setTimeout(settle, Math.max(0, patience), false);
      this.#waiting = () => settle(true);
    });
  }

  async close() {
    const child = this.#child;
    child.ref();
    const ended = child.exitCode === null ? once(child, "exit") : undefined;
    child.stdin.end();
    const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), stopPatience);
    await ended;
    clearTimeout(timer);
  }
}

module.exports = { Device };
