import Basics
import Credentials
import Testing

import Transport

/// What a provider asks over HTTP/2.
struct ProviderRequest {
  var method = "POST"
  var path: String
  var fields: [(name: String, value: String)] = []
  var body = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

  /// The documentation's push (`Documentation/provider-api.md#example-push`), kept for a while so that devices may be
  /// away.
  static func push(_ token: String, authorization: String? = nil) -> ProviderRequest {
    var request = ProviderRequest(path: "/3/device/" + token)
    if let authorization { request.fields.append(("authorization", authorization)) }
    request.fields += [
      ("apns-topic", Site.topic), ("apns-push-type", "alert"), ("apns-priority", "10"),
      ("apns-expiration", "4000000000"), ("apns-id", "11111111-2222-4333-8444-555555555555"),
    ]
    return request
  }

  /// The value of a field; nil takes it away.
  subscript(name: String) -> String? {
    get { fields.first { $0.name == name }?.value }
    set {
      let index = fields.firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): fields[index].value = value
      case (let index?, nil): fields.remove(at: index)
      case (nil, let value?): fields.append((name, value))
      case (nil, nil): break
      }
    }
  }
}

/// What came back.
struct ProviderAnswer {
  var status: Int
  var fields: [(name: String, value: String)]
  var body: [UInt8]

  subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
  var text: String { String(decoding: body, as: UTF8.self) }
}

/// A provider of today.
final class HTTP2Client {
  let recorder = Recorder()
  let connection: SocketConnection
  let session: HTTP2ClientSession
  /// Answers by the number that `send` gave out.
  private(set) var answers: [Int: ProviderAnswer] = [:]
  private(set) var resets: [Int: HTTP2ErrorCode] = [:]
  private let harness: EmulatorHarness
  private var sent = 0

  init(
    _ harness: EmulatorHarness, listener: String = "provider", _ certificate: ClientCertificate? = nil,
    serverName: String? = nil, alpn: [String] = ["h2"]
  ) throws {
    self.harness = harness
    session = try #require(HTTP2ClientSession())
    connection = try harness.connect(
      listener, as: recorder, context: harness.context(certificate), serverName: serverName, alpn: alpn)
    recorder.onOpened = { [weak self] _ in self?.flush() }
    recorder.onReceived = { [weak self] in self?.take($0) }
  }

  /// Everything that the server sent, frame by frame.
  var frames: [HTTP2Frame] { HTTP2Frame.all(recorder.received) }

  private func take(_ bytes: Span<UInt8>) {
    _ = session.receive(bytes)
    while let event = session.nextEvent() {
      switch event {
      case .answered(let stream):
        #expect(answers[stream.context] == nil, "a request is answered once")
        answers[stream.context] = ProviderAnswer(
          status: stream.status, fields: stream.message.fields, body: stream.body)
      case .reset(let stream, let code): resets[stream.context] = code
      }
    }
    flush()
  }

  private func flush() {
    guard connection.isOpen else { return }
    session.drainOutput { connection.send($0) }
  }

  func open(sourceLocation: SourceLocation = #_sourceLocation) {
    harness.turn(until: "SETTINGS are here", sourceLocation: sourceLocation) {
      session.peerSettingsFrames > 0 || recorder.hasEnded
    }
  }

  /// Sends a request; the number finds its answer.
  @discardableResult
  func send(_ request: ProviderRequest) -> Int {
    sent += 1
    let head = HTTP2RequestHead(method: request.method, authority: "localhost", fields: request.fields)
    session.submit(head, path: request.path, body: request.body, context: sent)
    flush()
    return sent
  }

  /// Takes a request back that is not answered yet.
  func cancel(_ number: Int) {
    for stream in session.liveStreams where stream.context == number { session.reset(stream, .cancel) }
    flush()
  }

  /// Sends a request and waits for its answer.
  func answer(
    _ request: ProviderRequest, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> ProviderAnswer {
    let number = send(request)
    harness.turn(until: "there is an answer", sourceLocation: sourceLocation) {
      answers[number] != nil || resets[number] != nil || recorder.hasEnded
    }
    return try #require(answers[number], "\(recorder.endReason ?? "reset")", sourceLocation: sourceLocation)
  }
}

/// A frame as the server sent it.
struct HTTP2Frame: Equatable {
  var type: UInt8
  var flags: UInt8
  var stream: UInt32
  var payload: [UInt8]
  /// The whole frame in hexadecimal.
  var hex: String

  static func all(_ bytes: [UInt8]) -> [HTTP2Frame] {
    var frames: [HTTP2Frame] = []
    var rest = bytes[...]
    while rest.count >= 9 {
      let head = Array(rest.prefix(9))
      let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      guard rest.count >= 9 + count else { break }
      let whole = Array(rest.prefix(9 + count))
      frames.append(
        HTTP2Frame(
          type: head[3], flags: head[4], stream: head[5...].reduce(0) { $0 << 8 | UInt32($1) },
          payload: Array(whole[9...]), hex: Hex.encode(whole)))
      rest = rest.dropFirst(9 + count)
    }
    return frames
  }

  /// SETTINGS that are not an acknowledgement.
  var isSettings: Bool { type == 4 && flags & 1 == 0 }
  var isGoAway: Bool { type == 7 }
}

extension EmulatorHarness {
  /// What goes behind `authorization:`, by a key of the folder.
  func bearer(
    _ key: String = Site.teamKey, team: String = Site.team, at now: Timestamp? = nil
  ) throws -> String {
    let signer = try ProviderTokenSigner(
      p8Path: certs + "/keys/AuthKey_\(key).p8", keyId: key, teamId: team)
    return "bearer " + (try signer.token(at: now ?? clock.now()))
  }
}
