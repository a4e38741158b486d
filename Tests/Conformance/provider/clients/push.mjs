// A provider as the tutorials show it: Node's own http2 and a token signed by hand.
import { createPrivateKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:http2";
import { connect as secure } from "node:tls";

const task = JSON.parse(readFileSync(0, "utf8"));
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const signed = part({ alg: "ES256", kid: task.keyId }) + "." +
  part({ iss: task.team, iat: Math.floor(Date.now() / 1000) });
const key = createPrivateKey(readFileSync(task.key));
const token = signed + "." + sign("sha256", Buffer.from(signed), { key, dsaEncoding: task.signature }).toString("base64url");

// As node-apn does it: CONNECT by hand, then TLS on that socket.
function tunnel(host, [proxy, port]) {
  return new Promise((resolve, reject) => {
    const asked = request({ host: proxy, port, method: "CONNECT", path: `${host}:443` });
    asked.on("error", reject);
    asked.on("connect", (answer, socket) => answer.statusCode === 200
      ? resolve(secure({ socket, servername: host, ALPNProtocols: ["h2"] })) : reject(new Error(answer.statusCode)));
    asked.end();
  });
}

const apple = "api.sandbox.push.apple.com";
const socket = task.proxy && await tunnel(apple, task.proxy);
const session = socket
  ? connect(`https://${apple}`, { createConnection: () => socket })
  : connect(`https://localhost:${task.port}`, { servername: apple });
session.on("error", (error) => { console.error(error); process.exit(1); });

function push(device, number) {
  return new Promise((resolve) => {
    const stream = session.request({
      ":method": "POST", ":path": `/3/device/${device}`, authorization: `bearer ${token}`,
      "apns-topic": task.topic, "apns-push-type": "alert",
    });
    let status, body = "";
    stream.on("response", (headers) => { status = headers[":status"]; });
    stream.on("data", (chunk) => { body += chunk; });
    stream.on("error", (error) => resolve(error.code));
    stream.on("end", () => resolve(status === 200 ? "200" : JSON.parse(body).reason));
    stream.end(JSON.stringify({ aps: { alert: String(number) } }));
  });
}

const counts = {};
for (const result of await Promise.all(task.tokens.map(push))) counts[result] = (counts[result] ?? 0) + 1;
session.close();
console.log(JSON.stringify(counts));
