import Cluster
import Emulator
import LegacyWire
import Zones

extension EmulatorOptions {
  /// The options that the flags say.
  init(_ settings: Settings) {
    self.init()
    bind = settings[ServeFlags.bind] ?? bind
    gatewayPort = settings[ServeFlags.gatewayPort] ?? gatewayPort
    feedbackPort = settings[ServeFlags.feedbackPort] ?? feedbackPort
    providerPort = settings[ServeFlags.providerPort] ?? providerPort
    courierPort = settings[ServeFlags.courierPort] ?? courierPort
    consolePort = settings[ServeFlags.consolePort] ?? consolePort
    readProxy(settings)
    certs = settings[ServeFlags.certs] ?? certs
    data = settings[ServeFlags.data] ?? data
    isEphemeral = settings.isOn(ServeFlags.ephemeral)
    portsFile = settings[ServeFlags.portsFile]
    seedData = settings[ServeFlags.seedData]
    dashboard = settings[ServeFlags.dashboard]
    access = settings[ServeFlags.access]
    activation = settings[ServeFlags.activation] ?? activation
    allowedHosts = settings.all(ServeFlags.allowHost)
    environment = settings[ServeFlags.environment] ?? environment
    isLenient = settings.isOn(ServeFlags.lenient)
    legacyTLS = settings.isOn(ServeFlags.legacyTLS)
    tokenSeed = settings[ServeFlags.tokenSeed]
    seed = settings[ServeFlags.seed]
    hooks = settings.all(ServeFlags.onDelivery)
    memory = settings[ServeFlags.memory] ?? memory
    logFormat = settings[ServeFlags.logFormat] ?? logFormat
    logLevel = settings[ServeFlags.logLevel] ?? logLevel
    logFile = settings[ServeFlags.logFile]
    readCapture(settings)
    provider.explains = !settings.isOn(ServeFlags.noExplain)
    readDisputed(settings)
    readForward(settings)
    readCluster(settings)
  }

  /// Refuses flags that make no sense together, which none of them can see on its own.
  static func check(_ settings: Settings, command: String) throws {
    guard settings[ServeFlags.nats] == nil else {
      guard settings[ServeFlags.forward] == nil else {
        throw UsageError("--forward can't go with --nats: a bridge is a node of its own", command: command)
      }
      return
    }
    let alone = ServeFlags.clusterGroup.flags.first { settings.source($0.name) != .standard }
    guard let alone else { return }
    throw UsageError("--\(alone.name) needs --nats URL, where the other nodes are found", command: command)
  }

  /// A port that nobody has chosen yields to who has it.
  private mutating func readProxy(_ settings: Settings) {
    proxyTunnels = settings.all(ServeFlags.proxyTunnel)
    let port = settings[ServeFlags.proxyPort]
    if case .number(let number)? = port, number > 0, settings.source(ServeFlags.proxyPort.name) == .standard {
      proxyPort = .preferred(number)
    } else {
      proxyPort = port ?? proxyPort
    }
  }

  private mutating func readForward(_ settings: Settings) {
    guard let target = settings[ServeFlags.forward] else { return }
    var options = ForwardOptions(target: target)
    options.key = settings[ServeFlags.key] ?? ""
    (options.keyId, options.team) = (settings[ServeFlags.keyId], settings[ServeFlags.team])
    (options.ca, options.serverName) = (settings[ServeFlags.forwardCA], settings[ServeFlags.forwardName])
    let proxy = settings[ServeFlags.forwardProxy]
    (options.proxy, options.proxyAuthorization) = (proxy?.address, proxy?.authorization)
    options.window = settings[ServeFlags.forwardWindow] ?? options.window
    options.queueLimit = settings[ServeFlags.forwardQueue] ?? options.queueLimit
    forward = options
  }

  private mutating func readCluster(_ settings: Settings) {
    guard let natsServers = settings[ServeFlags.nats] else { return }
    var options = ClusterOptions(natsServers: natsServers)
    options.names = ClusterNames(settings[ServeFlags.cluster])
    options.node = settings[ServeFlags.node] ?? options.node
    options.nodePort = settings[ServeFlags.nodePort] ?? options.nodePort
    if settings.source(ServeFlags.zones.name) != .standard {
      options.zones = settings[ServeFlags.zones].flatMap { ZoneMap(count: $0) }
    }
    (options.credentials, options.ca) = (settings[ServeFlags.natsCreds], settings[ServeFlags.natsCA])
    options.secret = settings[ServeFlags.clusterSecret]
    options.replicas = settings[ServeFlags.natsReplicas] ?? options.replicas
    cluster = options
  }

  private mutating func readCapture(_ settings: Settings) {
    guard let path = settings[ServeFlags.capture] else { return }
    var options = CaptureOptions(path: path)
    options.rotatesAt = settings[ServeFlags.captureRotate]
    options.kept = settings[ServeFlags.captureKeep] ?? options.kept
    capture = options
  }

  private mutating func readDisputed(_ settings: Settings) {
    broker.history = settings[ServeFlags.history] ?? broker.history
    broker.adoptsTokens = settings.isOn(ServeFlags.adoptTokens)
    fleetEvents = settings.isOn(ServeFlags.fleetEvents)
    isPushTypeStrict = settings.isOn(ServeFlags.strictPushType)
    broker.goneGraceSeconds = settings[ServeFlags.goneGrace]?.seconds ?? 0
    broker.tokenLifetimeSeconds = settings[ServeFlags.tokenLifetime]?.seconds
    legacyLimits.tokenLengths = settings[ServeFlags.tokenLength] ?? legacyLimits.tokenLengths
    legacyLimits.payload = settings[ServeFlags.payloadLimit] ?? legacyLimits.payload
    legacyLimits.forgetsIdentifierOfEmptyToken = !settings.isOn(ServeFlags.echoEmptyToken)
    provider.throttlesRejections = settings.isOn(ServeFlags.throttleRejections)
    provider.floodLimit = settings[ServeFlags.floodLimit]
    provider.idleSeconds = settings[ServeFlags.idleTimeout]?.seconds
    provider.withoutBroadcast = Set(settings.all(ServeFlags.withoutBroadcast))
    provider.checks.refusesUrgentBackground = !settings.isOn(ServeFlags.urgentBackground)
    provider.checks.suffixMismatch = settings[ServeFlags.suffixMismatch]?.rejection
    if settings.isOn(ServeFlags.documentedReasons) {
      provider.checks.usesDocumentedReasons = true
      provider.binding.otherEnvironment = .badEnvironmentKeyIdInToken
    }
    provider.binding.updates.scope = (settings[ServeFlags.tokenUpdateScope] ?? .connection).scope
    if let limit = settings[ServeFlags.tokenUpdateLimit] {
      provider.binding.updates.tokensPerInterval = limit
    }
    provider.documentedTokens = settings.isOn(ServeFlags.documentedTokens)
  }
}
