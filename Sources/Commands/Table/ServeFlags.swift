import Broker
import Cluster
import Credentials
import Emulator
import LegacyWire
import Platform
import PushModel
import Transport
import Zones

/// Every flag of `serve` (`Documentation/commands.md#flags-of-serve`). Each is also an environment variable and a
/// configuration key.
enum ServeFlags {
  static let config = Flag("config", .file, "a JSON file whose keys are these flags")
  static let bind = Flag("bind", .address, default: "127.0.0.1", "address of all listeners").setting
  static let gatewayPort = port("gateway", "2195", "binary protocol; ALPN h2: channel management")
  static let feedbackPort = port("feedback", "2196", "feedback service; ALPN h2: channel management")
  static let providerPort = port("provider", "2197", "HTTP/2 provider API")
  static let courierPort = port("courier", "5223", "device connections")
  static let consolePort = port("console", "8790", "dashboard, REST API, activation, plain-HTTP /3/device")
  static let proxyPort = port(
    "proxy", "8791", "HTTP proxy (CONNECT) that leads Apple's names to the others")
  static let proxyTunnel = Flag(
    "proxy-tunnel", .destination,
    "a host beyond Apple's names that the proxy leads to, on port 443 unless said"
  ).repeatable.setting
  static let certs = CommonFlags.certs
  static let data = Flag(
    "data", .folder, default: ".apns-emulator", "folder of the store and the token secret"
  ).setting
  static let ephemeral = Flag("ephemeral", .toggle, "nothing on disk but certificates").setting
  static let portsFile = Flag("ports-file", .file, "written once every listener accepts").setting
  static let seedData = Flag("seed-data", .file, "a saved state (see export), loaded before ready").setting
  static let dashboard = Flag(
    "dashboard", .folder, "the dashboard's files are read from there at each request, for work on them"
  ).setting
  static let allowHost = Flag(
    "allow-host", .address,
    "a further host name that the console answers to, and that a new server certificate is for"
  ).repeatable.setting
  static let access = Flag(
    "access", .accessToken,
    "what console and proxy ask for where --bind is beyond loopback (else a new token at each start)"
  ).setting.secret
  static let activation = Flag(
    "activation", ValueKind<ActivationAccess>.word, default: "open",
    "who may have a device activated, and so be any device: everybody, who has the access token, nobody"
  ).setting
  static let environment = Flag(
    "environment", .environment, default: "sandbox", "where the server name does not say it"
  ).setting
  static let lenient = Flag(
    "lenient", .toggle, "accept what can't be verified, and record what strict would have said"
  ).setting
  static let legacyTLS = Flag(
    "legacy-tls", .toggle, "TLS 1.0 and 1.1 and old ciphers on gateway and feedback"
  ).setting
  // Whoever has the seed can work out every token.
  static let tokenSeed = Flag("token-seed", .text("TEXT"), "makes tokens the same on every machine").setting
    .secret
  static let seed = Flag("seed", ValueKind<UInt64>.number("N", 0...UInt64.max), "drives every random choice")
    .setting
  static let history = Flag(
    "history", ValueKind<Int>.number("N", 1...Journal.maximumCapacity), default: "\(Journal.defaultCapacity)",
    "notifications that the history holds"
  ).setting
  static let adoptTokens = Flag(
    "adopt-tokens", .toggle, "an unknown token is registered at its first push, to a device named after it"
  ).setting
  static let fleetEvents = Flag(
    "fleet-events", .toggle, "the console answers as the push service of Fleet's load test"
  ).setting
  static let memory = Flag(
    "memory", .byteSize(from: MemoryBudget.leastLimit, "8M"), default: "512M",
    "what connections, streams, queues, answers and history may take together"
  ).setting
  static let capture = Flag("capture", .file, "record provider traffic there, for replay").setting
  static let captureRotate = Flag(
    "capture-rotate", .byteSize, "size at which FILE becomes FILE.1 and a new one is begun"
  ).setting
  static let captureKeep = Flag(
    "capture-keep", ValueKind<Int>.number("N", 0...10_000), default: "\(CaptureOptions.defaultKept)",
    "rotated capture files that are kept"
  ).setting
  static let logFormat = Flag("log-format", ValueKind<LogFormat>.word, default: "text", "how log lines look")
    .setting
  static let logLevel = Flag(
    "log-level", ValueKind<LogLevel>.word, default: "info", "minimum level that is logged"
  ).setting
  static let logFile = Flag(
    "log-file", .file, "log lines are appended there instead of standard error; SIGHUP opens it again"
  ).setting

  static let noExplain = Flag(
    "no-explain", .toggle, "leave the field apns-emulator-explanation out of refusals"
  ).setting

  // Where Apple is silent (`Documentation/provider-api.md#open-questions`)
  static let tokenLength = Flag(
    "token-length", ValueKind<ClosedRange<Int>>.span("N..M", within: 1...Limits.longestToken),
    default: "32..100",
    "token lengths that the gateway takes, in bytes"
  ).setting
  static let payloadLimit = Flag(
    "payload-limit", ValueKind<Int>.number("N", 1...65535), default: "\(Limits.legacyPayload)",
    "largest payload on the gateway, in bytes"
  ).setting
  static let echoEmptyToken = Flag(
    "echo-empty-token", .toggle, "status 2 for an empty token carries its identifier instead of 0"
  ).setting
  static let goneGrace = Flag(
    "gone-grace", .interval, default: "0", "time between a device's report and the first 410"
  ).setting
  static let throttleRejections = Flag(
    "throttle-rejections", .toggle, "lower the stream limit to 1 after a rejection, as Apple does"
  ).setting
  static let floodLimit = Flag(
    "flood-limit", ValueKind<Int>.number("N", 1...1_000_000),
    "pushes a second for one token before TooManyRequests"
  ).setting
  static let idleTimeout = Flag(
    "idle-timeout", .interval, "idle time of a provider connection before GOAWAY IdleTimeout"
  ).setting
  static let tokenUpdateScope = Flag(
    "token-update-scope", ValueKind<TokenUpdateScope>.word, default: "connection",
    "what TooManyProviderTokenUpdates counts"
  ).setting
  static let tokenUpdateLimit = Flag(
    "token-update-limit", ValueKind<Int>.number("N", 1...1000),
    default: "\(TokenUpdatePolicy().tokensPerInterval)",
    "different provider tokens within 20 minutes before TooManyProviderTokenUpdates"
  ).setting

  static let documentedTokens = Flag(
    "documented-tokens", .toggle,
    "refuse provider tokens that Apple serves but does not document: alg ES512, iat as a string"
  ).setting
  static let tokenLifetime = Flag(
    "token-lifetime", .interval, "age at which a device token answers 410 ExpiredToken over HTTP/2"
  ).setting
  static let withoutBroadcast = Flag(
    "without-broadcast", .topic, "bundle id that has no broadcast capability: FeatureNotEnabled"
  ).repeatable.setting
  static let urgentBackground = Flag(
    "urgent-background", .toggle, "take background pushes with priority 10, which Apple calls an error"
  ).setting
  static let suffixMismatch = Flag(
    "suffix-mismatch", ValueKind<SuffixMismatch>.word, default: "off",
    "what is answered when apns-topic does not end as apns-push-type wants"
  ).setting
  static let documentedReasons = Flag(
    "documented-reasons", .toggle,
    "Apple's documented words where the wire has others: BadEnvironmentKeyIdInToken"
  ).setting

  static let strictPushType = CommonFlags.strictPushType.setting

  // The bridge for programs that only speak the binary protocol
  static let forward = Flag(
    "forward", .endpoint, "pushes of the gateway go to this HTTP/2 provider API: api.push.apple.com:443"
  ).setting
  static let key = Flag("key", .file, "token key (.p8) for --forward").setting
  static let keyId = Flag(
    "key-id", .text("KEY"), "its id; taken from the file's name AuthKey_<KEY>.p8 if absent"
  ).setting
  static let team = Flag(
    "team", .text("TEAM"), "its team; taken from <KEY>.json beside the key if absent"
  ).setting
  static let forwardCA = Flag(
    "forward-ca", .file, "CA to trust there (else ours on loopback, the system's elsewhere)"
  ).setting
  static let forwardName = Flag(
    "forward-name", .address, "name that its certificate must have (else its host)"
  ).setting
  static let forwardProxy = Flag(
    "forward-proxy", .proxy, "HTTP proxy that --forward goes through: http://[USER:PASSWORD@]HOST:PORT"
  ).setting.secret
  static let forwardWindow = Flag(
    "forward-window", ValueKind<Int>.number("N", 1...ForwardOptions.maximumWindow),
    default: "\(ForwardOptions.defaultWindow)",
    "pushes of one connection under way at a time; 1: none goes out behind a rejected one"
  ).setting
  static let forwardQueue = Flag(
    "forward-queue", ValueKind<Int>.number("N", 1...1_000_000),
    default: "\(ForwardOptions.defaultQueueLimit)",
    "pushes that wait for answers before the gateway stops reading"
  ).setting

  // What is told of what happens. Commands and URLs often hold a secret.
  static let onDelivery = Flag(
    "on-delivery", .hook,
    "notified of each delivered push: a shell command on standard input, or a URL by POST"
  ).repeatable.setting.secret

  // One emulator of several processes. A URL may hold a password.
  static let nats = Flag(
    "nats", .natsServers, "be one of several nodes, on JetStream of these NATS servers"
  ).setting.secret
  static let cluster = Flag(
    "cluster", .cluster, "the cluster's name, where a NATS server has several; part of all that it has there"
  ).setting
  static let node = Flag("node", .node, "this node's name, which no other has (else the host's)").setting
  static let nodePort = Flag(
    "node-port", ValueKind<UInt16>.number("PORT", 0...UInt16.max), default: "0",
    "where the other nodes come in (0: any free port)"
  ).setting
  static let zones = Flag(
    "zones", ValueKind<Int>.number("N", ZoneMap.counts), default: "\(ZoneMap.defaultCount)",
    "parts that the devices of a new cluster are divided into; for good"
  ).setting
  static let natsCreds = Flag("nats-creds", .file, "credentials file (.creds or .nk) for --nats").setting
  static let natsCA = Flag(
    "nats-ca", .file, "CA to trust there, and no server without TLS (else the system's)"
  ).setting
  static let clusterSecret = Flag(
    "cluster-secret", .file, "secret of all nodes (mode 600), by which they know what they have written"
  ).setting
  static let natsReplicas = Flag(
    "nats-replicas", ValueKind<Int>.number("N", 1...ClusterOptions.replicaLimit), default: "1",
    "NATS servers that hold each log"
  ).setting

  /// In the order of the help: each flag is in one of them.
  static let groups: [FlagGroup] = [
    FlagGroup(
      "Listeners",
      [
        bind, gatewayPort, feedbackPort, providerPort, courierPort, consolePort, proxyPort, proxyTunnel,
        legacyTLS, allowHost, access, memory,
      ]),
    FlagGroup("Files", [config, certs, data, ephemeral, portsFile, seedData, dashboard]),
    FlagGroup("Credentials and seeds", [activation, environment, lenient, tokenSeed, seed]),
    FlagGroup("Custom device tokens", [adoptTokens, fleetEvents]),
    FlagGroup("Log and inspection", [logFormat, logLevel, logFile, history, noExplain]),
    FlagGroup("Hooks", [onDelivery]),
    FlagGroup("Recording", [capture, captureRotate, captureKeep]),
    clusterGroup,
    FlagGroup(
      "Forwarding",
      [forward, key, keyId, team, forwardCA, forwardName, forwardProxy, forwardWindow, forwardQueue]),
    FlagGroup(
      "Behaviour where Apple is silent",
      [
        tokenLength, payloadLimit, echoEmptyToken, goneGrace, throttleRejections, floodLimit, idleTimeout,
        tokenUpdateScope, tokenUpdateLimit, documentedTokens, tokenLifetime, withoutBroadcast,
        urgentBackground, suffixMismatch,
        documentedReasons, strictPushType,
      ]),
  ]

  static let clusterGroup = FlagGroup(
    "Several nodes", [nats, cluster, node, nodePort, zones, natsCreds, natsCA, natsReplicas, clusterSecret])

  static let all: [any FlagDescription] = groups.flatMap(\.flags)

  private static func port(
    _ listener: String, _ number: String, _ help: String
  ) -> Flag<EmulatorOptions.Port> {
    Flag("\(listener)-port", .port, default: number, help + " (0: any free port, off: not opened)").setting
  }
}

/// Flags that several commands share.
enum CommonFlags {
  static let strictPushType = Flag(
    "strict-push-type", .toggle,
    "phones take a push without apns-push-type for an alert of priority 10, not for what its payload says")
  static let certs = Flag("certs", .folder, default: "certs", "folder of certificates and keys").setting
  /// The same for a command that may ask a running emulator where its folder is.
  static let certsOfEmulator = Flag(
    "certs", .folder, "folder of certificates and keys (else that of the ports file, else certs)"
  ).setting
  static let portsFile = Flag(
    "ports-file", .file,
    "ports file of a running emulator (else APNS_EMULATOR_PORTS_FILE, else the default ports)")
  static let access = Flag(
    "access", .text("TOKEN"), "what serve printed as access, if it is bound beyond loopback"
  ).setting
  static let json = Flag("json", .toggle, "one JSON object a line")
  static let topic = Flag("topic", .topic, "topic, usually a bundle id")
  static let udid = Flag("udid", .udid, "device id, any name: phone-1").required
  static let timeout = Flag("timeout", .interval, "give up after this time")
  static let environment = Flag(
    "environment", .environment, "which of Apple's server names is asked for (else that of the emulator)")
}

/// Words for `ProviderCheckOptions.suffixMismatch`.
enum SuffixMismatch: String, CaseIterable, Sendable {
  case off
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case invalidPushType = "InvalidPushType"

  var rejection: Rejection? { Rejection(reason: rawValue) }
}
