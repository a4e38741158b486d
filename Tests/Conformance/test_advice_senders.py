"""The senders of Examples/ push to many tokens, ten of which are gone: nobody accuses them."""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import urllib.request

import pytest

from harness import BINARY, TIMEOUT, TOPIC

EXAMPLES = pathlib.Path(__file__).parents[2] / "Examples"
# So few show the same in less time: ADVICE_PUSHES=1000 for more.
PUSHES = int(os.environ.get("ADVICE_PUSHES", "100"))
GONE = 10

PYTHON = """
import asyncio, os, ssl, sys
from aioapns import APNs
from sender import Sender, TokenStore

async def main():
    store = TokenStore()
    for token in open(sys.argv[1]).read().split():
        store.register(token)
    client = APNs(
        key=open(sys.argv[2]).read(), key_id=sys.argv[3], team_id=sys.argv[4], topic=sys.argv[5],
        ssl_context=ssl.create_default_context(cafile=os.environ["APNS_EMULATOR_CA"]))
    host, port = os.environ["APNS_EMULATOR_PROVIDER"].rsplit(":", 1)
    client.pool.protocol_class.APNS_SERVER, client.pool.protocol_class.APNS_PORT = host, int(port)
    await Sender(client, store).send_all({"aps": {"alert": "Hello"}})
    client.pool.close()

asyncio.run(main())
"""
NODE = """
import fs from "node:fs";
import { APNs } from "./apns.mjs";

const [tokens, p8, keyId, teamId, topic] = process.argv.slice(2);
const hosts = [`https://localhost:${process.env.APNS_EMULATOR_PROVIDER.split(":").at(-1)}`];
const client = new APNs({ hosts, ca: fs.readFileSync(process.env.APNS_EMULATOR_CA), key: { p8: fs.readFileSync(p8), keyId, teamId } });
const fields = { "apns-topic": topic, "apns-push-type": "alert" };
const all = fs.readFileSync(tokens, "utf8").split("\\n").filter(Boolean);
await client.push(all[0], { aps: { alert: "Hello" } }, fields);
await Promise.all(all.slice(1).map((token) => client.push(token, { aps: { alert: "Hello" } }, fields)));
client.close();
"""
PHP = """<?php
require 'Gateway.php';
$pair = $argv[6];
$gateway = new Gateway(getenv('APNS_EMULATOR_GATEWAY'), $pair, getenv('APNS_EMULATOR_CA'));
$gateway->send(array_filter(explode("\\n", file_get_contents($argv[1]))), '{"aps":{"alert":"Hello"}}');
"""
SENDERS = {"Python": ("many.py", PYTHON, sys.executable), "Node": ("many.mjs", NODE, "node"), "PHP": ("many.php", PHP, "php")}


@pytest.mark.parametrize("language", SENDERS)
def test_a_good_sender_is_accused_of_nothing(tmp_path, language):
    done = subprocess.run(
        [BINARY, "exec", "--advice=error", "--", sys.executable, __file__, language], cwd=tmp_path, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=4 * TIMEOUT)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    # The gateway takes what is for a token that is gone; the frame without a token that ends a batch is rejected.
    accepted, rejected = (PUSHES, 1) if language == "PHP" else (PUSHES - GONE, GONE)
    assert (told["accepted"], told["rejected"]) == (accepted, rejected), told
    assert told["counts"]["error"] == 0, told


def ask(path, body=None):
    request = urllib.request.Request(
        f"http://{os.environ['APNS_EMULATOR_CONSOLE']}/api/v1{path}", json.dumps(body).encode() if body is not None else None,
        {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        return json.load(answer)


def phones(tokens):
    """As a saved state: a phone for each token, of which every so-manieth has lost its app."""
    yesterday = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    devices = []
    for number, token in enumerate(tokens):
        gone = {"state": "gone", "goneAt": yesterday} if number % (PUSHES // GONE) == 0 else {"state": "installed"}
        app = {"topic": TOPIC, "environment": "sandbox", "install": 1, "token": token, "issuedAt": yesterday} | gone
        devices.append({"udid": f"phone-{number}", "apps": [app]})
    return {"version": 1, "devices": devices}


def send(language):
    """What `exec` runs: prepares phones and credentials, has the sender send, and prints what was seen of it."""
    tokens = [os.urandom(32).hex() for _ in range(PUSHES)]
    subprocess.run([BINARY, "import", "-"], input=json.dumps(phones(tokens)), text=True, check=True, stdout=sys.stderr, timeout=TIMEOUT)
    key, pair = ask("/keys", {"team": "TEAM123456"}), ask("/certificates", {"topics": [TOPIC]})
    folder = pathlib.Path.cwd()
    (folder / "tokens").write_text("\n".join(tokens) + "\n")
    (folder / "key.p8").write_text(key["p8"])
    (folder / "pair.pem").write_text(pair["certificate"] + pair["privateKey"])
    name, text, program = SENDERS[language]
    for file in (EXAMPLES / language).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    (folder / name).write_text(text)
    subprocess.run(
        [program, name, "tokens", "key.p8", key["keyId"], key["team"], TOPIC, "pair.pem"], check=True, stdout=sys.stderr,
        timeout=3 * TIMEOUT)
    counters = ask("/info")["counters"]
    advice = ask("/advice/complete", {})
    print(json.dumps({name: counters[name] for name in ("accepted", "rejected")} | {
        "counts": advice["counts"], "findings": [(each["id"], each["sentence"]) for each in advice["findings"]]}))


if __name__ == "__main__":
    send(sys.argv[1])
