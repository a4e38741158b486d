import Basics

import Capture

/// Captures made and read in memory.
enum Lines {
  static let start = Timestamp(seconds: 1_700_000_000)

  /// A capture: its header, a gateway connection and a provider connection, and what `body` adds.
  static func make(_ body: (inout CaptureEncoder) -> Void) -> [UInt8] {
    var encoder = CaptureEncoder()
    encoder.header(startedAt: start, software: "test")
    encoder.connection(
      CapturedConnection(number: 1, interface: .gateway, environment: .sandbox, topic: "com.example.app"),
      nanoseconds: 5)
    encoder.connection(
      CapturedConnection(number: 2, interface: .provider, environment: .production, topic: nil),
      nanoseconds: 6)
    body(&encoder)
    return Array(encoder.bytes)
  }

  /// Reads a capture in pieces of a size.
  static func read(_ bytes: [UInt8], piece: Int = .max, leavesTogether: Bool = false) throws(CaptureError)
    -> CaptureBatch
  {
    var batch = CaptureBatch()
    var reader = CaptureReader(leavesTogether: leavesTogether)
    var position = 0
    while position < bytes.count {
      let end = min(bytes.count, piece == .max ? bytes.count : position + piece)
      let part = Array(bytes[position..<end])
      try reader.receive(part.span, into: &batch)
      position = end
    }
    try reader.finish()
    return batch
  }

  /// A `FieldBlock`.
  static func fields(_ pairs: [(name: [UInt8], value: [UInt8])]) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in pairs {
      for text in [name, value] { withUnsafeBytes(of: UInt16(text.count)) { block += $0 } }
      block += name + value
    }
    return block
  }
}
