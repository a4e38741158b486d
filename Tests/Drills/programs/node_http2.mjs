// Node's http2 as tutorials show it: one session, a request for each device token, side by side.
import { createPrivateKey, sign } from "node:crypto";
import { createWriteStream, readFileSync } from "node:fs";
import { connect } from "node:http2";

const setting = (name) => process.env[`APNS_EMULATOR_${name}`];
const tokens = readFileSync(setting("TOKEN_FILE"), "utf8").split("\n").filter(Boolean).map((line) => line.split(" ")[0]);
const report = createWriteStream(setting("REPORT"));
const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const unsigned = part({ alg: "ES256", kid: setting("KEY_ID") }) + "." +
  part({ iss: setting("TEAM"), iat: Math.floor(Date.now() / 1000) });
const key = createPrivateKey(readFileSync(setting("KEY")));
const bearer = unsigned + "." + sign("sha256", Buffer.from(unsigned), { key, dsaEncoding: "ieee-p1363" }).toString("base64url");

const client = connect(`https://localhost:${setting("PROVIDER").split(":").at(-1)}`, { ca: readFileSync(setting("CA")) });
client.on("error", (error) => console.error(error.message));

function push(token) {
  return new Promise((resolve, reject) => {
    const request = client.request({
      ":method": "POST", ":path": `/3/device/${token}`, authorization: `bearer ${bearer}`, "apns-topic": setting("TOPIC"),
      "apns-push-type": "alert",
    });
    let status, body = "";
    request.setEncoding("utf8");
    request.on("response", (headers) => { status = headers[":status"]; });
    request.on("data", (chunk) => { body += chunk; });
    request.on("end", () => resolve({ status, body }));
    request.on("error", reject);
    request.end(JSON.stringify({ aps: { alert: "Hello" } }));
  });
}

await Promise.all(tokens.map(async (token) => {
  try {
    const { status, body } = await push(token);
    if (status !== 200) report.write(`${token} ${body || "no answer"}\n`);
  } catch (error) {
    report.write(`${token} ${error.message}\n`);
  }
}));
client.close();
report.end();
