// Looked at by TypeScript, never run: what people write has the types that they expect.
import { startEmulator, NoPush, type Emulator, type Finding, type Push } from "apns-emulator";

async function shop(emulator: Emulator): Promise<string> {
  const { keyId, teamId, p8 } = await emulator.issueKey({ team: "TEAM123456" });
  const device = await emulator.device("phone-1", "com.example.app");
  await emulator.faults.add("busy", { reason: "ServiceUnavailable" }, { next: 2, interface: "provider" });
  await emulator.clock.advance("61m");
  const push: Push = await emulator.waitForPush({ udid: "phone-1", state: "delivered", timeout: 100 });
  const worst: Finding | undefined = (await emulator.advice({ severity: "warning", interface: "gateway" }))[0];
  if (worst) throw new Error(`${worst.sentence} ${worst.first.toISOString()} ${worst.faults.busy ?? 0}`);
  const port: number = emulator.provider.port;
  const message = await (await device.connect()).nextMessage();
  return [keyId, teamId, p8, port, push.reason ?? push.payload.aps.alert, message.fromStore].join(" ");
}

const emulator = await startEmulator({ environment: "production", floodLimit: 3, withoutBroadcast: ["a.b"] });
try {
  await shop(emulator);
} catch (error) {
  if (!(error instanceof NoPush)) throw error;
} finally {
  await emulator[Symbol.asyncDispose]();
}

// @ts-expect-error: no state of a push
await emulator.waitForPush({ state: "lost" });
// @ts-expect-error: no severity
await emulator.advice({ severity: "fatal" });
// @ts-expect-error: one is started, not made
new Emulator();
