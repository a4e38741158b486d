// The code that documents show, run as it stands. DOCUMENTS names them.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { promisify } from "node:util";

const environment = { ...process.env };
// Of this run of tests; theirs is another.
delete environment.NODE_TEST_CONTEXT;

for (const document of (process.env.DOCUMENTS ?? "").split(" ").filter(Boolean)) {
  const blocks = [...fs.readFileSync(document, "utf8").matchAll(/^```(js|cjs)\n(.*?)^```/gms)];
  for (const [number, [, kind, text]] of blocks.entries()) {
    test(`block ${number + 1} of ${path.basename(document)} runs`, async () => {
      const file = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname),
        `block-${path.basename(document, ".md")}-${number}.${kind === "cjs" ? "cjs" : "mjs"}`);
      fs.writeFileSync(file, text);
      try {
        await promisify(execFile)(process.execPath, [file], { env: environment, timeout: 60_000 });
      } catch (error) {
        assert.fail(error.stdout + error.stderr);
      }
    });
  }
}
