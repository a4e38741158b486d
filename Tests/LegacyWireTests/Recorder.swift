import LegacyWire
import PushModel

/// A notification with its bytes copied out, so that it outlives the decoder's call.
struct Heard: Equatable {
  var command: LegacyCommand
  var identifier: UInt32
  var expiration: UInt32?
  var priority: Priority
  var saysPriority: Bool
  var token: [UInt8]?
  var payload: [UInt8]?
  var frame: [UInt8]

  init(_ notification: LegacyNotification) {
    command = notification.command
    identifier = notification.identifier
    expiration = notification.expiration
    (priority, saysPriority) = (notification.priority, notification.saysPriority)
    token = Array(notification.token)
    payload = Array(notification.payload)
    frame = Array(notification.frame)
  }
}

/// Feeds a decoder in given pieces and keeps what it said.
struct Recorder {
  var decoder = LegacyDecoder()
  var heard: [Heard] = []
  var failure: LegacyParseFailure?

  mutating func feed(_ piece: some Sequence<UInt8>) {
    let failure = decoder.receive(Array(piece).span) { notification in
      heard.append(Heard(notification))
      return .goOn
    }
    if let failure { self.failure = failure }
  }

  /// All pieces that `cuts` make of `bytes`.
  static func hearing(_ bytes: [UInt8], cuts: [Int] = []) -> Recorder {
    var recorder = Recorder()
    var start = 0
    for cut in cuts + [bytes.count] {
      recorder.feed(bytes[start..<cut])
      start = cut
    }
    return recorder
  }
}
