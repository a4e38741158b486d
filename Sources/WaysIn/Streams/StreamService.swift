import Basics
import Broker
import Console
import ConsoleAnswers
import Platform
import PushModel
import Services
import Transport

/// What all device streams share: who is there, when their output leaves, and their numbers.
package final class StreamService {
  /// Most streams at once, as a count: as many as a listener with TLS takes connections.
  static let limit = SocketListener.connectionLimit
  /// How long a reader may take nothing of what waits for it, in nanoseconds
  /// (`Documentation/console-api.md#devices-without-a-device-client`). Variable so that a test need not wait for it.
  package var timeout: Int64 = 10_000_000_000
  /// How often readers that nothing came for are looked for, in nanoseconds.
  private static let sweepInterval: Int64 = 250_000_000
  /// At least so many of them get a sign of life then, as a count, and of very many this part: all have it in time, and no turn
  /// is long.
  private static let beatsPerSweep = 250
  private static let sweepsPerBeat = 40

  let broker: Broker
  let clock: EmulatorClock
  let logger: Logger
  let faults: FaultService
  let devices: TurnDevices
  private var streams: [ObjectIdentifier: DeviceStream] = [:]
  private var sweep: LoopEvent?
  private var isSweeping = false

  /// Streams that were opened so far, and those of them that ended as their readers took nothing, as counts.
  package private(set) var openedCount: UInt64 = 0
  package internal(set) var unreadCount: UInt64 = 0
  /// Notifications that went out as they came, and those that had been kept, as counts.
  private(set) var freshCount: UInt64 = 0
  private(set) var keptCount: UInt64 = 0

  package init(
    loop: EventLoop, broker: Broker, clock: EmulatorClock, logger: Logger, faults: FaultService,
    devices: TurnDevices
  ) {
    (self.broker, self.clock) = (broker, clock)
    (self.logger, self.faults, self.devices) = (logger, faults, devices)
    sweep = LoopEvent(timerOn: loop) { [unowned self] in beat() }
  }

  /// Streams that are open, as a count.
  package var count: Int { streams.count }

  /// The device whose stream is the answer of an exchange; nil if there is none.
  package func udid(of exchange: HTTPExchange?) -> UDID? {
    guard let exchange, let session = streams[ObjectIdentifier(exchange)]?.session,
      broker.registry.contains(session.device)
    else { return nil }
    return broker.registry[session.device].udid
  }

  /// Begins a stream of any form.
  func open(_ order: DeviceStreamOrder, _ form: StreamForm, _ exchange: HTTPExchange) throws(ConsoleError) {
    guard streams.count < Self.limit else {
      throw .busy("\(Self.limit) device streams are open already")
    }
    guard let connection = exchange.connection else { return }
    let stream = DeviceStream(order, form, self, exchange, connection)
    let (session, topics) = try connect(order, stream.link, clock.now())
    openedCount += 1
    streams[stream.key] = stream
    // Of Fleet's there may be hundreds of thousands.
    logger.log(
      form == .console ? .info : .debug, "device connected by a stream",
      [("udid", .string(order.udid.text)), ("environment", .string(order.environment.name))])
    stream.begin(session, topics)
    startSweeping()
  }

  /// The device is there, with the apps that it is to have.
  private func connect(
    _ order: DeviceStreamOrder, _ link: DeviceLink, _ now: Timestamp
  ) throws(ConsoleError) -> (DeviceSession, [TopicHash]) {
    let registry = broker.registry
    let device = try registry.newOrKnownDevice(order.udid, now)
    guard registry.hasRoom(for: device, installs: order.topics.count) else {
      throw .full("tokens", limit: Registry.rowLimit)
    }
    var hashes: [TopicHash] = []
    for topic in order.topics { hashes.append(registry[try registry.newOrKnownTopic(topic)].hash) }
    guard
      let connected = broker.devices.connect(
        order.udid, keyFingerprint: registry[device].keyFingerprint, environment: order.environment,
        offeredBaseToken: nil, link: link, now: now)
    else { throw .full("devices", limit: Registry.rowLimit) }
    for hash in hashes { _ = broker.apps.appToken(connected.session, topic: hash, now: now) }
    let wanted = hashes.isEmpty ? broker.apps.topics(of: device, in: order.environment) : hashes
    return (connected.session, wanted)
  }

  // MARK: For streams

  func forget(_ stream: DeviceStream) { streams[stream.key] = nil }

  func count(_ origin: NotificationOrigin) {
    if origin == .fresh { freshCount += 1 } else { keptCount += 1 }
  }

  // MARK: Turns

  private func startSweeping() {
    guard !isSweeping else { return }
    isSweeping = true
    sweep?.start(afterNanoseconds: Self.sweepInterval)
  }

  private func beat() {
    isSweeping = false
    guard !streams.isEmpty else { return }
    let now = SystemClock.now()
    var left = max(Self.beatsPerSweep, streams.count / Self.sweepsPerBeat)
    for stream in streams.values where stream.nextBeat <= now {
      guard left > 0 else { break }
      left -= 1
      stream.beat(now)
    }
    startSweeping()
  }

  /// Ends every stream in order.
  package func shutDown() { end("the emulator is shutting down") { _ in true } }

  /// Ends the streams of some devices in order.
  package func end(_ reason: String, where isGone: (UDID) -> Bool) {
    for stream in Array(streams.values) {
      if let session = stream.session {
        // A reset may have forgotten it.
        let isKnown = broker.registry.contains(session.device)
        guard !isKnown || isGone(broker.registry[session.device].udid) else { continue }
        broker.devices.sessionEnded(session, now: clock.now())
      }
      stream.endSession(reason: reason)
    }
  }
}

extension StreamService: DeviceStreams {
  package func open(_ order: DeviceStreamOrder, _ exchange: HTTPExchange) throws(ConsoleError) {
    try open(order, .console, exchange)
  }

  package func acknowledge(_ ids: [UInt64], by udid: UDID, in environment: Environment) -> Int? {
    guard let device = broker.registry.knownDevice(udid),
      let stream = broker.registry.session(of: device, in: environment)?.outlet as? DeviceStream
    else { return nil }
    return stream.acknowledge(ids)
  }
}

/// What the console tells of streams.
extension StreamService {
  package var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_device_streams", .gauge, "Devices that are connected by a stream of the console.",
        value: count),
      MetricFamily(
        "apns_emulator_device_streams_opened_total", .counter, "Device streams that were opened.",
        value: Int(clamping: openedCount)),
      MetricFamily(
        "apns_emulator_device_streams_unread_total", .counter,
        "Device streams that were dropped because their readers read nothing for 10 s.",
        value: Int(clamping: unreadCount)),
    ]
  }
}
