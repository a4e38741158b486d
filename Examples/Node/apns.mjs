// A provider with nothing but Node: one HTTP/2 connection, a provider token that is renewed in time, and a second host for when
// the first does not answer.
import { createPrivateKey, sign } from "node:crypto";
import { once } from "node:events";
import http2 from "node:http2";

// Apple refuses tokens that are older than an hour, and providers that renew them more often than every 20 minutes.
const tokenLifetime = 50 * 60 * 1000;

export class ProviderToken {
  #key;
  #text;
  #issued = 0;

  constructor({ p8, keyId, teamId }) {
    this.#key = createPrivateKey(p8);
    this.keyId = keyId;
    this.teamId = teamId;
  }

  text(now = Date.now()) {
    if (now - this.#issued > tokenLifetime) {
      this.#issued = now;
      const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const unsigned = `${part({ alg: "ES256", kid: this.keyId })}.${part({ iss: this.teamId, iat: Math.floor(now / 1000) })}`;
      const signature = sign("sha256", Buffer.from(unsigned), { key: this.#key, dsaEncoding: "ieee-p1363" });
      this.#text = `${unsigned}.${signature.toString("base64url")}`;
    }
    return this.#text;
  }
}

export class APNs {
  #hosts;
  #options;
  #token;
  #session;

  /** `hosts` are tried in their order: `https://api.push.apple.com`, then the same on port 2197. */
  constructor({ hosts, key, ...options }) {
    this.#hosts = [...hosts];
    this.#options = options;
    this.#token = new ProviderToken(key);
  }

  /** The host that pushes go to now. */
  get host() { return this.#hosts[0]; }

  /** Answers `{ status, apnsId, reason, timestamp }`. Throws what the last host failed with, if none can be reached. */
  async push(token, payload, fields = {}) {
    for (let tried = 1; ; tried++) {
      try {
        return await this.#request(await this.#connected(), token, payload, fields);
      } catch (error) {
        if (tried > this.#hosts.length) throw error;
        this.#failOver();
      }
    }
  }

  close() { this.#session?.close(); }

  async #connected() {
    if (this.#session && !this.#session.closed && !this.#session.destroyed) return this.#session;
    const session = http2.connect(this.host, this.#options);
    this.#session = session;
    await once(session, "connect");
    // A connection that is lost later is lost for its requests, which say so.
    session.on("error", () => {});
    session.on("goaway", () => session.close());
    return session;
  }

  /** The next host is first from now on, and stays so while it answers. */
  #failOver() {
    this.#session?.destroy();
    this.#session = undefined;
    this.#hosts.push(this.#hosts.shift());
  }

  #request(session, token, payload, fields) {
    return new Promise((resolve, reject) => {
      const stream = session.request({
        ":method": "POST", ":path": `/3/device/${token}`, authorization: `bearer ${this.#token.text()}`, ...fields,
      });
      let answer, body = "";
      stream.setEncoding("utf8");
      stream.on("response", (headers) => { answer = { status: headers[":status"], apnsId: headers["apns-id"] }; });
      stream.on("data", (chunk) => { body += chunk; });
      stream.on("end", () => answer
        ? resolve({ ...answer, ...(body && JSON.parse(body)) })
        : reject(new Error("the connection ended without an answer")));
      stream.on("error", reject);
      stream.end(JSON.stringify(payload));
    });
  }
}
