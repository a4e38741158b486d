// A small provider: a token signed by hand, one connection a push.
import { createPrivateKey, sign } from "node:crypto";
import http2 from "node:http2";

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

export function providerToken({ p8, keyId, teamId }) {
  const text = `${part({ alg: "ES256", kid: keyId })}.${part({ iss: teamId, iat: Math.floor(Date.now() / 1000) })}`;
  const signature = sign("sha256", Buffer.from(text), { key: createPrivateKey(p8), dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

/** Answers the status. */
export function push(emulator, key, token, alert, fields = {}) {
  return new Promise((resolve, reject) => {
    const session = http2.connect(`https://localhost:${emulator.provider.port}`, { ca: emulator.ca });
    session.on("error", reject);
    const stream = session.request({
      ":method": "POST", ":path": `/3/device/${token}`, authorization: `bearer ${providerToken(key)}`,
      "apns-topic": "com.example.app", ...fields,
    });
    stream.on("response", (headers) => {
      session.close();
      resolve(headers[":status"]);
    });
    stream.on("error", reject);
    stream.resume();
    stream.end(JSON.stringify({ aps: { alert } }));
  });
}
