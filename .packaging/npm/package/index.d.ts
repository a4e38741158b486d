declare global {
  // As TypeScript 5.2 has it, for those before.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** Where a listener is. As text it is `host:port`. */
export interface Address {
  readonly host: string;
  readonly port: number;
  toString(): string;
}

/** Flags of `apns-emulator serve` in camel case; `true` for one that has no value. */
export interface Settings {
  environment?: "sandbox" | "production";
  tokenSeed?: string;
  seed?: number;
  lenient?: boolean;
  /** Flags as on the command line. */
  arguments?: string[];
  /** The program, if it is not that of this package. */
  binary?: string;
  /** Milliseconds after which a start counts as failed. */
  patience?: number;
  [flag: string]: string | number | boolean | readonly (string | number)[] | undefined;
}

export type Interface = "gateway" | "provider" | "console";
export type PushState = "rejected" | "stored" | "sent" | "delivered" | "replaced" | "expired" | "discarded";

/** Which pushes are meant: all that are given must fit. */
export interface Filters {
  topic?: string;
  token?: string;
  udid?: string;
  interface?: Interface;
  /** What was answered: 200, 410, … */
  status?: number;
  /** Why it was refused: `BadDeviceToken`, … */
  reason?: string;
  state?: PushState;
  /** What a phone has made of it: `presented`, `callback`, … */
  phone?: string;
  /** Text anywhere in the payload. */
  q?: string;
  /** Only those after the one with this id. */
  since?: number;
}

/** A push as the emulator got it from a provider, with what became of it. */
export interface Push {
  /** Counts the pushes of this emulator, from 1. */
  id: number;
  receivedAt: Date;
  interface: Interface;
  topic: string | null;
  token: string;
  /** The device that the token is of; null if the token is unknown. */
  udid: string | null;
  environment: "sandbox" | "production";
  pushType: string;
  priority: number;
  /** When it is given up; null if the provider said nothing. */
  expiration: Date | null;
  apnsId: string | null;
  collapseId: string | null;
  /** Of the binary protocol. */
  identifier: number | null;
  /** The JSON of the payload; a text if it is none. */
  payload: any;
  /** The bytes as they came. */
  rawPayload: Uint8Array;
  /** Whether the provider heard that all is well. */
  accepted: boolean;
  /** Null where there was no answer. */
  status: number | null;
  /** Why it was refused; null if it was accepted. */
  reason: string | null;
  /** Which rule refused it, what was expected and what came. */
  explanation: string | null;
  /** The name of the fault that struck it, if one did. */
  fault: string | null;
  /** Where it was on its way to the device when this was looked at. */
  state: PushState;
  timeline: { at: string; event: string; detail: string | null }[];
}

/** `error`: Apple refuses it, throttles for it, or a push is lost by it; `warning`: against Apple's advice; `note`: worth knowing. */
export type Severity = "note" | "warning" | "error";

/** Which findings are meant: all that are given must fit. */
export interface AdviceFilters {
  /** Of this severity or worse. */
  severity?: Severity;
  id?: string;
  interface?: Interface;
  credential?: string;
  peer?: string;
}

/** Something that a provider does, once for each provider that does it. */
export interface Finding {
  /** `lost-after-error`, …: `Documentation/advice.md` has a heading for each. */
  id: string;
  severity: Severity;
  /** What was seen. */
  sentence: string;
  /** What to do about it. */
  remedy: string;
  /** How often. */
  count: number;
  /** How many connections did it. */
  connections: number;
  interface: Interface;
  /** Whose connections; empty while they have shown nothing. */
  credential: string;
  /** The host that they come from. */
  peer: string;
  first: Date;
  last: Date;
  /** Ids of the first pushes that show it. */
  notifications: number[];
  /** How many of `count` a fault has caused, by its name. */
  faults: Record<string, number>;
  evidence: { page: string; heading: string };
}

/** A token key (`.p8`), for provider tokens. */
export interface Key {
  keyId: string;
  teamId: string;
  /** The only ones that it is for; none: all of the team's. */
  topics: string[];
  /** The content of `path`: a P-256 key in PKCS#8 PEM. */
  p8: string;
  path: string;
}

/** A push certificate and its private key, in PEM and as files. */
export interface Certificate {
  topics: string[];
  certificate: string;
  privateKey: string;
  path: string;
  keyPath: string;
  /** Both, in PKCS#12 with an empty password. */
  p12Path: string;
}

/** A push that has reached a phone. */
export interface Message {
  topic: string;
  token: string;
  apnsId: string | null;
  priority: number | null;
  expiration: string | null;
  payload: any;
  rawPayload: Uint8Array;
  /** Whether it was stored while the phone was offline. */
  fromStore: boolean;
}

/** A phone with apps. It is offline, and its newest notification stored for it, unless it is connected. */
export interface Device {
  readonly udid: string;
  /** The token of its app, in hexadecimal; of the first one, if there are several. */
  readonly token: string;
  /** The token of each app by its topic. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Installs an app as a person does, and answers its token. Twice is the same as once. */
  install(topic: string): Promise<string>;
  /** Removes it and installs it again: it has another token then, and the old one is gone. */
  reinstall(topic: string): Promise<string>;
  /** Removes an app: its token is gone once the phone, connected, has said so when the next push came for it. */
  remove(topic: string): Promise<void>;
  /** Removes all apps at once. */
  erase(): Promise<void>;
  /** Switches the phone on; resolves when it is known to the service, with a token for each app. */
  connect(patience?: number): Promise<Device>;
  /** Switches it off; what is sent now is kept for it. */
  disconnect(): Promise<void>;
  /** The next message in order, each once. Throws `NoPush` if none came within so many milliseconds. */
  nextMessage(timeout?: number): Promise<Message>;
}

/** A rule that is in force. */
export interface Fault {
  readonly name: string;
  /** The rule as the console has it: `match`, `when`, `effect`, `enabled`, `hits`. */
  rule(): Promise<any>;
  /** How often it has struck. */
  hits(): Promise<number>;
  enable(enabled?: boolean): Promise<void>;
  /** Takes it away; what it held up goes on. */
  remove(): Promise<void>;
}

/** When a fault strikes, and what. */
export interface FaultRule {
  next?: number;
  every?: number;
  probability?: number;
  interface?: Interface | "feedback" | "courier";
  topic?: string;
  token?: string;
  priority?: number;
  connection?: string;
}

export interface Faults {
  /** Has something go wrong, in the place of a fault of the same name: `add("busy", { reason: "ServiceUnavailable" }, { next: 2 })`. */
  add(name: string, effect: Record<string, unknown>, rule?: FaultRule): Promise<Fault>;
  /** One of those that the emulator knows: `fail-twice`, `outage`, `throttled` and others. */
  addPreset(preset: string): Promise<Fault>;
  list(): Promise<Fault[]>;
  /** Takes all of them away. */
  clear(): Promise<void>;
}

/** The clock that every expiry and every date of an emulator goes by. */
export interface Clock {
  now(): Promise<Date>;
  /** Moves it forward, `"61m"`, `"1d12h"` or milliseconds; back, if that is negative. */
  advance(by: string | number): Promise<void>;
  set(date: Date): Promise<void>;
  freeze(): Promise<void>;
  unfreeze(): Promise<void>;
  /** Follows the world's clock again. */
  reset(): Promise<void>;
}

export interface ConsoleAPI {
  get(path: string, query?: Record<string, unknown>): Promise<any>;
  post(path: string, body?: unknown): Promise<any>;
  request(method: string, path: string, body?: unknown, patience?: number): Promise<any>;
}

/** An emulator on free ports of 127.0.0.1, with its files in a temporary folder that goes with it. */
export class Emulator {
  private constructor();
  /** The binary gateway of 2009: TLS 1.2, a push certificate required. */
  readonly gateway: Address;
  /** The feedback service of the binary protocol. */
  readonly feedback: Address;
  /** The HTTP/2 API: `https://localhost:${emulator.provider.port}`. */
  readonly provider: Address;
  /** Where devices connect. */
  readonly courier: Address;
  /** Plain HTTP/1.1: the dashboard, the API, and `POST /3/device/{token}` for clients without HTTP/2. */
  readonly console: Address;
  /** An HTTP proxy for clients that know only Apple's names. */
  readonly proxy: Address;
  /** The authority that clients have to trust, in PEM. */
  readonly ca: string;
  readonly caPath: string;
  readonly certsPath: string;
  readonly logPath: string;
  readonly environment: "sandbox" | "production";
  /** What a command finds this emulator by, as `apns-emulator exec --proxy` sets it. */
  readonly variables: Record<string, string>;
  readonly faults: Faults;
  readonly clock: Clock;
  /** The console's API, for what has no method here. */
  readonly consoleAPI: ConsoleAPI;
  issueKey(options?: { team?: string; topics?: string[] }): Promise<Key>;
  issueCertificate(...topics: string[]): Promise<Certificate>;
  /** A phone with these apps installed. Asked for again under the same name it is the same phone. */
  device(udid?: string, ...topics: string[]): Promise<Device>;
  /** What providers have sent since the last reset, oldest first. */
  notifications(filters?: Filters): Promise<Push[]>;
  /** Waits for a push that fits, 5000 ms unless `timeout` says else; one that came before counts too. Throws `NoPush`. */
  waitForPush(filters?: Filters & { timeout?: number }): Promise<Push>;
  waitForPushes(count: number, filters?: Filters & { timeout?: number }): Promise<Push[]>;
  /** Sends a push as a provider with a certificate for the topic would, with the same checks and faults. */
  send(token: string, topic: string, payload: unknown, fields?: Record<string, unknown>): Promise<Push>;
  /** What providers have done against Apple's advice since the last reset, the worst first. Ask once the code under test has sent all
   * that it will: what was lost and not sent again by then counts as lost. */
  advice(filters?: AdviceFilters): Promise<Finding[]>;
  /** Forgets all but keys and certificates, or what is named: `"notifications"`, `"faults"`, … */
  reset(...what: string[]): Promise<void>;
  /** Ends it in order. Twice is the same as once. */
  stop(): Promise<void>;
  /** `await using emulator = await startEmulator();` */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts an emulator; resolves when every port is open. */
export function startEmulator(settings?: Settings): Promise<Emulator>;

/** The program that is started unless `binary` says else. */
export function binaryPath(): string;

/** The emulator did not start, or is not running. */
export class EmulatorError extends Error {}

/** No such push came in time; says what came instead, and what about it did not fit. */
export class NoPush extends Error {}

/** A request that the emulator refused: a name that is none, a filter that makes no sense. */
export class ConsoleError extends Error {
  readonly status: number;
  readonly body: any;
}
