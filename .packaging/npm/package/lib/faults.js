"use strict";
// What goes wrong on purpose, and when it is.

const { ConsoleError } = require("./console.js");

/** A rule that is in force. */
class Fault {
  #console;

  constructor(console, name) {
    this.#console = console;
    this.name = name;
  }

  /** The rule as the console has it: `match`, `when`, `effect`, `enabled`, `hits`. */
  rule() { return this.#console.get(this.#path); }

  /** How often it has struck. */
  async hits() { return (await this.rule()).hits; }

  /** Switches it on or off; off, what it held up goes on. */
  async enable(enabled = true) { await this.#console.post("/api/v1/faults", { name: this.name, enabled }); }

  /** Takes it away; what it held up goes on. It may be gone already. */
  async remove() {
    try {
      await this.#console.request("DELETE", this.#path);
    } catch (error) {
      if (!(error instanceof ConsoleError) || error.status !== 404) throw error;
    }
  }

  get #path() { return `/api/v1/faults/${encodeURIComponent(this.name)}`; }
}

/** The faults of an emulator, by name and in the order in which they are looked at. */
class Faults {
  #console;

  constructor(console) { this.#console = console; }

  /** Has something go wrong, in the place of a fault of the same name. */
  async add(name, effect, { next, every, probability, ...match } = {}) {
    const when = Object.fromEntries(
      Object.entries({ next, every, probability }).filter(([, value]) => value !== undefined));
    const rule = { name, match, effect, ...(Object.keys(when).length ? { when } : {}) };
    await this.#console.post("/api/v1/faults", rule);
    return new Fault(this.#console, name);
  }

  /** One of those that the emulator knows: `fail-twice`, `outage`, `throttled` and others. */
  async addPreset(preset) {
    const { name } = await this.#console.post("/api/v1/faults", { preset });
    return new Fault(this.#console, name);
  }

  async list() {
    const { faults } = await this.#console.get("/api/v1/faults");
    return faults.map(({ name }) => new Fault(this.#console, name));
  }

  /** Takes all of them away. */
  async clear() { await this.#console.post("/api/v1/reset", { what: ["faults"] }); }
}

/** The clock that every expiry and every date of an emulator goes by. */
class Clock {
  #console;

  constructor(console) { this.#console = console; }

  async now() { return new Date((await this.#console.get("/api/v1/clock")).now); }

  /** Moves it forward, `"61m"`, `"1d12h"` or milliseconds; back, if that is negative. */
  async advance(by) { await this.#put({ advance: typeof by === "number" ? `${Math.round(by)}ms` : by }); }

  /** Makes it another moment; time goes on from there unless it stands still. */
  async set(date) { await this.#put({ set: date.toISOString() }); }

  async freeze() { await this.#put({ freeze: true }); }

  async unfreeze() { await this.#put({ freeze: false }); }

  /** Follows the world's clock again. */
  async reset() { await this.#console.post("/api/v1/reset", { what: ["clock"] }); }

  #put(change) { return this.#console.request("PUT", "/api/v1/clock", change); }
}

module.exports = { Clock, Fault, Faults };
