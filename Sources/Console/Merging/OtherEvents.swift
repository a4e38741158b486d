import PushModel
import Transport

/// The events of one other node, as its stream tells them.
final class OtherEvents: AnswerReader {
  /// Longest event, in bytes: many times one with the largest payload.
  private static let limit = 1 << 20

  /// Told of each.
  var onEvent: (_ name: String, _ data: String) -> Void = { _, _ in }
  /// Told when it begins to be followed, and when it is not any more.
  var onChange: () -> Void = {}
  /// The stream has begun.
  private(set) var hasBegun = false
  /// It has begun, and has not ended.
  var isFollowed: Bool { hasBegun && !isLost }
  /// There is no stream, and none to come.
  private(set) var isLost = false
  /// Where to go on: the id of the last event.
  private(set) var position: String?
  private var reader = EventStreamReader()
  private var question: (any OpenQuestion)?

  /// `position`: where an earlier stream has ended.
  init(after position: String?) { self.position = position }

  func ask(_ node: String, _ others: any OtherConsoles) {
    let since = position.map { "?since=\($0)" } ?? ""
    // HTTP/1.1 wants a host, and nodes do not look at it.
    guard let request = HTTPRequest("GET", "/api/v1/events\(since)", fields: [HTTPField("Host", node)])
    else { return lose() }
    question = others.ask(node, request, timeout: nil, self)
    if isLost { question = nil }
  }

  func giveUp() {
    isLost = true
    question?.giveUp()
    question = nil
  }

  private func lose() {
    giveUp()
    onChange()
  }

  // MARK: The answer

  func answered(_ head: HTTPResponse) { if head.status != 200 { lose() } }

  func received(_ piece: [UInt8]) {
    for event in reader.take(piece) where !isLost {
      if !event.id.isEmpty { position = event.id }
      if event.name != "boot" {
        onEvent(event.name, event.data)
      } else if !hasBegun {
        hasBegun = true
        onChange()
      }
    }
    if reader.heldBytes > Self.limit { lose() }
  }

  func ended(_ failure: String?) { lose() }
}
