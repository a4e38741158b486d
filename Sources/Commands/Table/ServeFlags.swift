import Bridge
import Broker
import Cluster
import Credentials
import Emulator
import Hooks
import LegacyWire
import Platform
import PushModel
import Recorder
import Services
import Transport
import Zones

/// Every flag of `serve` (`Documentation/configuration.md#flags-of-serve`) with what it sets, in the order of the help. Each but
/// `--config` is also an environment variable and a configuration key.
package enum ServeFlags {
  static let groups: [FlagGroup] = [
    listeners, files, credentials,
    FlagGroup("Custom device tokens") {
      Flag(
        "adopt-tokens", .toggle,
        "register an unknown token at its first push, for a device named after it"
      ).setting { $0.broker.adoptsTokens = $1 }
      Flag("fleet-events", .toggle, "answer on the console as the push service of Fleet MDM's load test")
        .setting { $0.console.fleetEvents = $1 }
    },
    log,
    // What is told of what happens. Commands and URLs often hold a secret.
    FlagGroup("Hooks") {
      Flag(
        "on-delivery", .hook,
        "notify of each delivered push: a shell command (standard input) or a URL (POST)"
      ).repeatable.secret.setting { $0.hooks.append($1) }
    },
    recording, cluster, forwarding, disputed,
  ]

  package static let all: [any FlagDescription] = groups.flatMap(\.flags)

  // MARK: Those that others name

  static let config = Flag("config", .file, "read settings from this JSON file, whose keys are these flags")
  package static let ports = [
    port("gateway", "2195", "binary protocol; ALPN h2: channel management") { $0.listeners.gateway = $1 },
    port("feedback", "2196", "feedback service; ALPN h2: channel management") { $0.listeners.feedback = $1 },
    port("provider", "2197", "HTTP/2 provider API") { $0.listeners.provider = $1 },
    port("courier", "5223", "connections of devices") { $0.listeners.courier = $1 },
    port("console", "8790", "dashboard, REST API, device activation, /3/device over plain HTTP") {
      $0.listeners.console = $1
    },
    proxyPort,
  ]
  static let proxyPort = port(
    "proxy", "8791", "HTTP proxy (CONNECT) for Apple's host names"
  ) { $0.listeners.proxy = $1 }
  static let data = Flag(
    "data", .folder, default: ".apns-emulator", "folder of the store and of the secret for device tokens"
  ).setting { $0.files.data = $1 }
  static let portsFile = Flag(
    "ports-file", .file, "write the addresses to this file once every listener accepts connections"
  )
  .setting { $0.files.ports = $1 }
  static let logLevel = Flag(
    "log-level", ValueKind<LogLevel>.word, default: "info", "minimum level that is logged"
  ).setting { $0.log.level = $1 }
  static let forward = Flag(
    "forward", .endpoint,
    "send pushes of the gateway to this provider API: api.push.apple.com:443"
  ).setting { $0.forward = ForwardOptions(target: $1) }
  /// A URL may hold a password.
  static let nats = Flag(
    "nats", .natsServers, "be a node of a cluster, with JetStream of these NATS servers"
  ).secret.setting { $0.cluster = ClusterOptions(natsServers: $1) }
  static let zones = Flag(
    "zones", ValueKind<Int>.number("N", ZoneMap.counts), default: "\(ZoneMap.defaultCount)",
    "how many zones a new cluster has; can't be changed later"
  ).setting { $0.cluster?.zones = ZoneMap(count: $1) }

  private static func port(
    _ listener: String, _ number: String, _ help: String,
    _ set: @escaping @Sendable (inout ServeOptions, ListenerPort) -> Void
  ) -> Flag<ListenerPort> {
    Flag("\(listener)-port", .port, default: number, help + " (0: any free port, off: not opened)")
      .setting(set)
  }

  // MARK: Groups

  private static let listeners = FlagGroup("Listeners") {
    Flag("bind", .address, default: "127.0.0.1", "address of all listeners").setting {
      $0.listeners.bind = $1
    }
    ports
    Flag(
      "proxy-tunnel", .destination,
      "another server that the proxy leads to (default port: 443)"
    ).repeatable.setting { $0.listeners.proxyTunnels.append($1) }
    Flag("legacy-tls", .toggle, "accept TLS 1.0 and 1.1 and old ciphers on gateway and feedback")
      .setting { $0.listeners.legacyTLS = $1 }
    Flag(
      "allow-host", .address,
      "another host name for the console and for new server certificates"
    ).repeatable.setting { $0.credentials.allowedHosts.append($1) }
    Flag(
      "access", .accessToken,
      "access token beyond loopback (default: a new one at each start)"
    ).secret.setting { $0.credentials.access = $1 }
    Flag(
      "memory", .byteSize(from: MemoryBudget.leastLimit, "8M"), default: "512M",
      "limit of what connections, streams, queues, answers and history use together"
    ).setting { $0.listeners.memory = $1 }
  }

  private static let files = FlagGroup("Files") {
    config
    Flag("certs", .folder, default: "certs", "folder of certificates and keys").setting {
      $0.credentials.certs = $1
    }
    data
    Flag("ephemeral", .toggle, "store nothing on disk but certificates and keys").setting {
      $0.files.isEphemeral = $1
    }
    portsFile
    Flag("seed-data", .file, "load this saved state (see export) before ready").setting {
      $0.files.seedData = $1
    }
    Flag(
      "dashboard", .folder, "read the dashboard's files from this folder at each request, for work on them"
    ).setting { $0.console.dashboard = $1 }
  }

  private static let credentials = FlagGroup("Credentials and seeds") {
    Flag(
      "activation", ValueKind<ActivationAccess>.word, default: "open",
      "who may activate a device: everybody, whoever has the access token, or nobody"
    ).setting { $0.credentials.activation = $1 }
    Flag(
      "environment", .environment, default: "sandbox",
      "environment of a connection whose server name does not say it"
    )
    .setting { $0.environment = $1 }
    Flag("lenient", .toggle, "accept credentials that can't be verified, and record the strict verdict")
      .setting { $0.credentials.isLenient = $1 }
    // Whoever has the seed can work out every token.
    Flag("token-seed", .text("TEXT"), "derive device tokens from this text, the same on every machine").secret
      .setting { $0.credentials.tokenSeed = $1 }
    Flag("seed", ValueKind<UInt64>.number("N", 0...UInt64.max), "seed of every random choice")
      .setting { $0.seed = $1 }
  }

  private static let log = FlagGroup("Log and inspection") {
    Flag("log-format", ValueKind<LogOptions.Format>.word, default: "text", "format of log lines")
      .setting { $0.log.format = $1 }
    logLevel
    Flag(
      "log-file", .file, "append log lines to this file, not to standard error; SIGHUP opens it again"
    ).setting { $0.log.file = $1 }
    Flag(
      "history", ValueKind<Int>.number("N", 1...Journal.maximumCapacity),
      default: "\(Journal.defaultCapacity)", "how many notifications the history holds"
    ).setting { $0.broker.history = $1 }
    Flag("no-explain", .toggle, "leave the header field apns-emulator-explanation out of rejections")
      .setting { $0.provider.explains = !$1 }
  }

  private static let recording = FlagGroup("Recording") {
    Flag("capture", .file, "record provider traffic in this file, for replay")
      .setting { $0.capture = CaptureOptions(path: $1) }
    Flag("capture-rotate", .byteSize, "size at which FILE becomes FILE.1 and a new file begins")
      .setting { $0.capture?.rotatesAt = $1 }
    Flag(
      "capture-keep", ValueKind<Int>.number("N", 0...10_000), default: "\(CaptureOptions.defaultKept)",
      "how many rotated capture files are kept"
    ).setting { $0.capture?.kept = $1 }
  }

  /// One emulator of several processes. What stands behind `--nats` makes no sense without it.
  static let cluster = FlagGroup("Several nodes") {
    nats
    Flag(
      "cluster", .cluster,
      "name of the cluster, for NATS servers that have several"
    ).setting { $0.cluster?.names = ClusterNames($1) }
    Flag("node", .node, "name of this node, which no other node has (default: the host's name)")
      .setting { $0.cluster?.node = $1 }
    Flag(
      "node-port", ValueKind<UInt16>.number("PORT", 0...UInt16.max), default: "0",
      "port for connections of other nodes (0: any free port)"
    ).setting { $0.cluster?.nodePort = $1 }
    zones
    Flag("nats-creds", .file, "credentials file (.creds or .nk) for --nats")
      .setting { $0.cluster?.credentials = $1 }
    Flag("nats-ca", .file, "CA of the NATS servers, which must use TLS then (default: the system's CAs)")
      .setting { $0.cluster?.ca = $1 }
    Flag(
      "nats-replicas", ValueKind<Int>.number("N", 1...ClusterOptions.replicaLimit), default: "1",
      "how many NATS servers hold each log"
    ).setting { $0.cluster?.replicas = $1 }
    Flag(
      "cluster-secret", .file, "file (mode 600) with the secret that proves which messages nodes have written"
    ).setting { $0.cluster?.secret = $1 }
  }

  /// The bridge for programs that only speak the binary protocol.
  private static let forwarding = FlagGroup("Forwarding") {
    forward
    Flag("key", .file, "token key (.p8) for --forward").setting { $0.forward?.key = $1 }
    Flag("key-id", .text("KEY"), "id of the key (default: KEY in the file name AuthKey_<KEY>.p8)")
      .setting { $0.forward?.keyId = $1 }
    Flag("team", .text("TEAM"), "team of the key (default: the team in <KEY>.json beside the key)")
      .setting { $0.forward?.team = $1 }
    Flag(
      "forward-ca", .file,
      "CA of --forward (default: the emulator's on loopback, else the system's)"
    )
    .setting { $0.forward?.ca = $1 }
    Flag("forward-name", .address, "name that the certificate at --forward must have (default: the host)")
      .setting { $0.forward?.serverName = $1 }
    Flag(
      "forward-proxy", .proxy, "HTTP proxy that --forward goes through: http://[USER:PASSWORD@]HOST:PORT"
    ).secret.setting {
      $0.forward?.proxy = $1.address
      $0.forward?.proxyAuthorization = $1.authorization
    }
    Flag(
      "forward-window", ValueKind<Int>.number("N", 1...ForwardOptions.maximumWindow),
      default: "\(ForwardOptions.defaultWindow)",
      "how many pushes of a connection may wait for answers at a time"
    ).setting { $0.forward?.window = $1 }
    Flag(
      "forward-queue", ValueKind<Int>.number("N", 1...1_000_000),
      default: "\(ForwardOptions.defaultQueueLimit)",
      "how many pushes wait for answers before the gateway stops reading"
    ).setting { $0.forward?.queueLimit = $1 }
  }

  /// `Documentation/provider-api.md#open-questions`
  private static let disputed = FlagGroup("Behaviour where Apple is silent") {
    Flag(
      "token-length", ValueKind<ClosedRange<Int>>.span("N..M", within: 1...Limits.longestToken),
      default: "32..100", "lengths of device tokens that the gateway accepts, in bytes"
    ).setting { $0.legacy.tokenLengths = $1 }
    Flag(
      "payload-limit", ValueKind<Int>.number("N", 1...65535), default: "\(Limits.legacyPayload)",
      "largest payload on the gateway, in bytes"
    ).setting { $0.legacy.payload = $1 }
    Flag(
      "echo-empty-token", .toggle,
      "answer an empty token (status 2) with the identifier of the push instead of 0"
    )
    .setting { $0.legacy.forgetsIdentifierOfEmptyToken = !$1 }
    Flag(
      "gone-grace", .interval, default: "0",
      "time between a device's report that an app is gone and the first 410"
    )
    .setting { $0.broker.goneGraceSeconds = $1.seconds }
    Flag("throttle-rejections", .toggle, "lower the stream limit to 1 after a rejection, as Apple does")
      .setting { $0.provider.throttlesRejections = $1 }
    Flag(
      "flood-limit", ValueKind<Int>.number("N", 1...1_000_000),
      "pushes a second to one device token before TooManyRequests"
    ).setting { $0.provider.floodLimit = $1 }
    Flag("idle-timeout", .interval, "idle time of a provider connection before GOAWAY IdleTimeout")
      .setting { $0.provider.idleSeconds = $1.seconds }
    Flag(
      "token-update-scope", ValueKind<TokenUpdatePolicy.Scope>.word, default: "connection",
      "what TooManyProviderTokenUpdates counts together; off counts nothing"
    ).setting { $0.provider.binding.updates.scope = $1 }
    Flag(
      "token-update-limit", ValueKind<Int>.number("N", 1...1000),
      default: "\(TokenUpdatePolicy().tokensPerInterval)",
      "different provider tokens within 20 minutes before TooManyProviderTokenUpdates"
    ).setting { $0.provider.binding.updates.tokensPerInterval = $1 }
    Flag(
      "documented-tokens", .toggle,
      "reject provider tokens that Apple does not document: alg ES512, iat as a string"
    ).setting { $0.provider.documentedTokens = $1 }
    Flag("token-lifetime", .interval, "age at which a device token answers 410 ExpiredToken over HTTP/2")
      .setting { $0.broker.tokenLifetimeSeconds = $1.seconds }
    Flag(
      "without-broadcast", .topic, "bundle id without the broadcast capability: FeatureNotEnabled"
    ).repeatable.setting { $0.provider.withoutBroadcast.insert($1) }
    Flag(
      "urgent-background", .toggle, "accept background pushes with priority 10, which Apple calls an error"
    ).setting { $0.provider.checks.refusesUrgentBackground = !$1 }
    Flag(
      "suffix-mismatch", ValueKind<SuffixMismatch>.word, default: "off",
      "reason if the suffix of apns-topic does not fit apns-push-type"
    ).setting { $0.provider.checks.suffixMismatch = $1.rejection }
    Flag(
      "documented-reasons", .toggle,
      "use Apple's documented reason where its service differs: BadEnvironmentKeyIdInToken"
    ).setting { $0.provider.usesDocumentedReasons = $1 }
    CommonFlags.strictPushType.setting { $0.isPushTypeStrict = $1 }
  }
}

extension ServeOptions {
  /// The options that the flags say.
  package init(_ settings: Settings) {
    self.init()
    for flag in ServeFlags.all { flag.apply(settings, to: &self) }
    // A port that nobody has chosen yields to who has it.
    if case .number(let number) = listeners.proxy, number > 0,
      settings.source(ServeFlags.proxyPort.name) == .standard
    {
      listeners.proxy = .preferred(number)
    }
    // A cluster that exists has its number.
    if settings.source(ServeFlags.zones.name) == .standard { cluster?.zones = nil }
  }

  /// Refuses flags that make no sense together, which none of them can see on its own.
  package static func check(_ settings: Settings, command: String) throws {
    guard settings[ServeFlags.nats] == nil else {
      guard settings[ServeFlags.forward] == nil else {
        throw UsageError(
          "--forward can't be combined with --nats: run the bridge as an emulator of its own",
          command: command)
      }
      return
    }
    let alone = ServeFlags.cluster.flags.first { settings.source($0.name) != .standard }
    guard let alone else { return }
    throw UsageError("--\(alone.name) needs --nats URL, the NATS servers of the cluster", command: command)
  }
}

/// Flags that several commands share.
package enum CommonFlags {
  static let strictPushType = Flag(
    "strict-push-type", .toggle,
    "phones take a push without apns-push-type for an alert of priority 10")
  /// For a command that may ask a running emulator where its folder is.
  package static let certsOfEmulator = Flag(
    "certs", .folder, "folder of certificates and keys (default: that of the ports file, else certs)"
  ).setting()
  static let portsFile = Flag(
    "ports-file", .file,
    "ports file of the emulator (default: APNS_EMULATOR_PORTS_FILE, else default ports)")
  static let access = Flag(
    "access", .text("TOKEN"), "access token that serve printed, if it is bound beyond loopback"
  ).setting()
  static let json = Flag("json", .toggle, "print one JSON object a line")
  package static let jsonObject = Flag("json", .toggle, "print one JSON object")
  static let topic = Flag("topic", .topic, "topic, usually a bundle id")
  static let udid = Flag("udid", .udid, "device id, any name: phone-1").required
  static let timeout = Flag("timeout", .interval, "give up after this time")
  static let environment = Flag(
    "environment", .environment, "environment, by Apple's server name for it (default: the emulator's)")
}

/// Words for `ProviderCheckOptions.suffixMismatch`.
enum SuffixMismatch: String, CaseIterable, Sendable {
  case off
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case invalidPushType = "InvalidPushType"

  var rejection: Rejection? { Rejection(reason: rawValue) }
}
