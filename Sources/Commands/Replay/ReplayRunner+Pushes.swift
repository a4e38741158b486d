import Capture
import Platform
import PushModel
import Transport

/// A push of the capture with what is known of its connection.
struct RecordedPush {
  var entry: CaptureEntry
  var batch: CaptureBatch
  var connection: CapturedConnection
  var tag: Int

  var content: UnsafeRawBufferPointer { batch.content(entry) }
  var fields: UnsafeRawBufferPointer { batch.fields(entry) }
  var path: String { String(decoding: batch.path(entry), as: UTF8.self) }
  var outcome: CapturedOutcome { batch.outcome(entry) }
  var form: OutcomeComparison.Form { entry.kind == .frame ? .legacy : .http }

  /// The topic that it is for: the certificate's on the binary interface, else the one it names.
  var topic: String? {
    guard entry.kind == .request else { return connection.topic }
    let named = FieldBlock.value(of: "apns-topic", in: fields)
    return named.isEmpty ? connection.topic : String(decoding: named, as: UTF8.self)
  }
}

extension ReplayRunner {
  /// Hands a push to its lane; nil if the protocol that is wanted has no words for it.
  @inline(__always)
  func hand(_ push: RecordedPush) throws -> (any ReplayLane)? {
    let recorded: ReplayOptions.Form = push.entry.kind == .frame ? .legacy : .http2
    switch (recorded, options.form ?? recorded) {
    case (.legacy, .legacy): return try frame(push, push.content)
    case (.legacy, .http2): return try translated(push)
    case (.http2, .http2): return try request(push)
    case (.http2, .legacy): return try translatedFrame(push)
    }
  }

  // MARK: Binary

  @inline(__always)
  private func frame(_ push: RecordedPush, _ frame: UnsafeRawBufferPointer) throws -> any ReplayLane {
    let lane = try legacyLane(
      ReplayLanes.Key(connection: push.connection.number), push, push.connection.topic)
    guard push.entry.frames == 1 else {
      lane.push(frame, count: Int(push.entry.frames), tag: push.tag)
      return lane
    }
    let outcome = push.entry.detail < 0 ? nil : push.outcome
    if let mapped = PushTranslation.frame(frame, options.mapping) {
      mapped.withUnsafeBytes { lane.push($0, tag: push.tag, recorded: outcome) }
    } else {
      lane.push(frame, tag: push.tag, recorded: outcome)
    }
    return lane
  }

  private func translatedFrame(_ push: RecordedPush) throws -> (any ReplayLane)? {
    let identifier = UInt32(truncatingIfNeeded: push.entry.line)
    guard let topic = push.topic,
      let frame = PushTranslation.frame(
        path: push.path, fields: push.fields, body: push.content, identifier: identifier, options.mapping)
    else { return nil }
    let key = ReplayLanes.Key(connection: push.connection.number, topic: topic)
    let lane = try legacyLane(key, push, topic)
    frame.withUnsafeBytes { lane.push($0, tag: push.tag, recorded: push.outcome) }
    return lane
  }

  private func legacyLane(_ key: ReplayLanes.Key, _ push: RecordedPush, _ topic: String?) throws -> LegacyLane
  {
    try lanes.lane(key) {
      guard let topic else {
        throw CommandFailure(
          "line \(push.entry.line): connection \(key.connection) had a certificate without a topic; name one with --cert"
        )
      }
      let address = try options.address(.legacy, emulator)
      let context = try identities.context(options.mapping.topic(topic), maximum: .tls12)
      let name = serverName("gateway", push.connection.environment, address)
      return LegacyLane(
        recordedForm: push.form,
        connect: { [client] handler in
          try TLSClient.connect(
            loop: client.loop, to: address, serverName: name, context: context, handler: handler)
        }, settle: { [unowned self] in output.settled($0) },
        silences: { [unowned self] in output.silences($0) }, progress: { [unowned self] in progressed() },
        fail: { [unowned self] in failed(address, $0) })
    }
  }

  // MARK: HTTP/2

  private func request(_ push: RecordedPush) throws -> any ReplayLane {
    let topic = push.connection.topic.map { options.mapping.topic($0) }
    let lane = try httpLane(push, certificate: topic)
    let digest = String(decoding: FieldBlock.value(of: "authorization", in: push.fields), as: UTF8.self)
    let authorization = try identities.authorization(
      digest, topic: options.mapping.topic(push.topic ?? ""), push.outcome)
    let head = heads.head(
      of: push, authorization: authorization, serverName("api", push.connection.environment, nil),
      options.mapping)
    let path = PushTranslation.path(push.path, options.mapping)
    lane.push(
      head, path: path, body: Array(push.content), tag: push.tag, identifier: nil, recorded: push.outcome)
    return lane
  }

  private func translated(_ push: RecordedPush) throws -> (any ReplayLane)? {
    guard let topic = push.topic,
      let request = PushTranslation.request(from: push.content, topic: topic, options.mapping)
    else { return nil }
    let mapped = options.mapping.topic(topic)
    let usesKey = identities.hasOwnKey || !identities.hasCertificate(mapped)
    let lane = try httpLane(push, certificate: usesKey ? nil : mapped)
    var fields = request.fields
    if usesKey {
      fields.insert((name: "authorization", value: try identities.authorization(topic: mapped)), at: 0)
    }
    let head = heads.head(fields, serverName("api", push.connection.environment, nil))
    lane.push(
      head, path: request.path, body: request.body, tag: push.tag,
      identifier: FrameIdentifier.of(push.content), recorded: push.outcome)
    return lane
  }

  private func httpLane(_ push: RecordedPush, certificate topic: String?) throws -> HTTPLane {
    try lanes.lane(ReplayLanes.Key(connection: push.connection.number)) {
      let address = try options.address(.http2, emulator)
      let context = try identities.context(topic, maximum: .tls13)
      let name = serverName("api", push.connection.environment, address)
      return HTTPLane(
        recordedForm: push.form,
        connect: { [client] owner in
          try HTTP2ClientConnection(
            loop: client.loop, to: address, serverName: name, context: context, owner: owner)
        }, settle: { [unowned self] in output.settled($0) }, progress: { [unowned self] in progressed() },
        fail: { [unowned self] in failed(address, $0) })
    }
  }

  /// Apple's name for a service on this machine, which says the environment; elsewhere the host's own.
  private func serverName(_ service: String, _ environment: Environment, _ address: SocketAddress?) -> String
  {
    let apple =
      environment == .production ? "\(service).push.apple.com" : "\(service).sandbox.push.apple.com"
    guard let host = (address ?? options.target)?.host else { return apple }
    let isHere = host == "localhost" || host == "::1" || host.hasPrefix("127.")
    return isHere ? apple : host
  }
}
