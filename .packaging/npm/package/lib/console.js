"use strict";
// The console's API: JSON over plain HTTP, one connection a request.

const http = require("node:http");

const { EmulatorError } = require("./process.js");

/** A request that the emulator refused: a name that is none, a filter that makes no sense. */
class ConsoleError extends Error {
  name = "ConsoleError";

  constructor(status, body) {
    super(body?.error?.message ?? `the console answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

class Console {
  #place;
  #headers;
  #lastWords;

  constructor({ host, port }, access, lastWords) {
    this.#place = { host, port };
    this.#lastWords = lastWords;
    this.#headers = access ? { authorization: `Bearer ${access}` } : {};
  }

  get(path, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(given).toString();
    return this.request("GET", text ? `${path}?${text}` : path);
  }

  post(path, body = {}) { return this.request("POST", path, body); }

  /** Sends a request, answers the JSON of the response. Throws a ConsoleError unless that is 2xx, an EmulatorError if nobody
   * answers. */
  async request(method, path, body, patience = 30_000) {
    const headers = { ...this.#headers, ...(method === "GET" ? {} : { "content-type": "application/json" }) };
    const options = { ...this.#place, method, path, headers, agent: false, timeout: patience };
    const { status, text } = await exchange(options, body && JSON.stringify(body)).catch((error) => {
      throw new EmulatorError(`the emulator does not answer (${error.message}); its last words:\n${this.#lastWords()}`);
    });
    const answer = text ? JSON.parse(text) : null;
    if (status < 200 || status >= 300) throw new ConsoleError(status, answer);
    return answer;
  }
}

function exchange(options, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => { text += chunk; });
      response.on("end", () => resolve({ status: response.statusCode, text }));
      response.on("error", reject);
    });
    request.on("timeout", () => request.destroy(new Error(`no answer from the console within ${options.timeout} ms`)));
    request.on("error", reject);
    request.end(body);
  });
}

module.exports = { Console, ConsoleError };
