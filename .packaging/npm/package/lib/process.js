"use strict";
// The program as a child of this process: how it is found, started, and ended whatever happens to us.

const { spawn } = require("node:child_process");
const { once } = require("node:events");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const listeners = ["gateway", "feedback", "provider", "courier", "console", "proxy"];

// The command that `exec` runs. It tells the ports once they are open, then waits for the end of its standard input: that comes
// when the emulator is stopped, and as well when this process is killed, so that no emulator is ever left behind.
const guard = 'echo "$APNS_EMULATOR_ACCESS" "$(cat "$APNS_EMULATOR_PORTS_FILE")"; cat > /dev/null; rm -rf "$0"';

// Milliseconds that an emulator may take to end in order.
const stopPatience = 10_000;

/** The emulator did not start, or is not running. */
class EmulatorError extends Error {
  name = "EmulatorError";
}

/** The program: the one that APNS_EMULATOR_BINARY names, or that of this package, or the first on the PATH. */
function binaryPath() {
  const packaged = path.join(__dirname, "..", "bin", "apns-emulator");
  return process.env.APNS_EMULATOR_BINARY ?? (fs.existsSync(packaged) ? packaged : "apns-emulator");
}

/** `{ tokenSeed: "x", lenient: true }` as `--token-seed x --lenient`. */
function flags(settings) {
  return Object.entries(settings).flatMap(([name, value]) => {
    const flag = "--" + name.replace(/[A-Z]/g, (letter) => "-" + letter.toLowerCase());
    if (value === true) return [flag];
    if (value === false || value === undefined) return [];
    return [value].flat().flatMap((each) => [flag, String(each)]);
  });
}

/** The root and its certificates for servers and devices: made by the first emulator of this process, and given to those that
 * follow, as RSA keys take most of a start's time and clients then trust one file only. */
const authority = {
  files: undefined,
  turn: Promise.resolve(),

  /** Calls `start` with the files; those that come before there are any do so one after the other. */
  async lend(start) {
    if (this.files) return start(this.files);
    const mine = this.turn.then(() => start(this.files ?? []));
    this.turn = mine.catch(() => {});
    return mine;
  },

  keep(folder) {
    this.files ??= fs.readdirSync(folder, { withFileTypes: true }).filter((each) => each.isFile())
      .map(({ name }) => ({ name, content: fs.readFileSync(path.join(folder, name)) }));
  },
};

/** One running emulator, with its files in a temporary folder that goes with it. */
class EmulatorProcess {
  /** Resolves when every port is open. */
  static start(words, { binary = binaryPath(), patience = 60_000 } = {}) {
    return authority.lend(async (files) => {
      const started = new EmulatorProcess(binary, files);
      try {
        await started.#launch(words, patience);
      } catch (error) {
        await started.stop();
        throw error;
      }
      authority.keep(started.certs);
      return started;
    });
  }

  #child;

  constructor(binary, files) {
    this.binary = binary;
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), "apns-emulator-"));
    this.log = path.join(this.folder, "log");
    this.portsFile = path.join(this.folder, "ports.json");
    this.certs = path.join(this.folder, "certs");
    fs.mkdirSync(this.certs, { mode: 0o700 });
    for (const { name, content } of files) fs.writeFileSync(path.join(this.certs, name), content, { mode: 0o600 });
  }

  async #launch(words, patience) {
    const log = fs.openSync(this.log, "w");
    const ports = listeners.flatMap((listener) => [`--${listener}-port`, "0"]);
    const places = ["--ephemeral", "--log-level", "info", "--certs", this.certs, "--ports-file", this.portsFile];
    // A session of its own: Ctrl-C is for the tests, which then stop it themselves.
    this.#child = spawn(this.binary, ["exec", ...places, ...ports, ...words, "--", "sh", "-c", guard, this.folder],
      { stdio: ["pipe", "pipe", log], detached: true });
    fs.closeSync(log);
    this.#child.stdin.on("error", () => {});
    const line = await this.#firstLine(patience);
    const gap = line.indexOf(" ");
    this.access = line.slice(0, gap) || undefined;
    this.ports = JSON.parse(line.slice(gap + 1));
    // It keeps nobody from ending: whoever does takes it along.
    for (const each of [this.#child, this.#child.stdin, this.#child.stdout]) each.unref();
  }

  /** What the guard tells as soon as all ports are open. */
  #firstLine(patience) {
    const child = this.#child;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(reject, () => this.#failure("did not get ready in time")), patience);
      let isSettled = false;
      const settle = (how, value) => {
        if (isSettled) return;
        isSettled = true;
        clearTimeout(timer);
        how(value());
      };
      let text = "";
      child.stdout.on("data", (chunk) => {
        text += chunk;
        if (text.endsWith("\n")) settle(resolve, () => text.trimEnd());
      });
      child.on("error", (error) => settle(reject, () => new EmulatorError(`${this.binary} can't be run: ${error.message}`)));
      child.on("exit", () => settle(reject, () => this.#failure("did not start")));
    });
  }

  #failure(what) { return new EmulatorError(`the emulator ${what}:\n${this.logTail()}`); }

  /** The last lines that it logged. */
  logTail() {
    if (!fs.existsSync(this.log)) return "";
    return fs.readFileSync(this.log, "utf8").trimEnd().split("\n").slice(-20).join("\n");
  }

  /** Ends it in order, or, if that takes too long, at once. */
  async stop() {
    this.#child?.stdin?.end();
    if (this.#child?.pid) await end(this.#child);
    fs.rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Asks a child to end, waits, and kills it if it does not. */
async function end(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopPatience);
  await ended;
  clearTimeout(timer);
}

module.exports = { EmulatorError, EmulatorProcess, binaryPath, flags, listeners, stopPatience };
