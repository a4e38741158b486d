/// One broadcast channel as a device sees it (`Documentation/device-protocol.md#channels`).
public struct CourierChannel: Hashable, Sendable {
  public var id: [UInt8]
  /// When its last message was sent, nanoseconds since 1970.
  public var lastMessageTime: UInt64?

  public init(id: [UInt8], lastMessageTime: UInt64? = nil) {
    self.id = id
    self.lastMessageTime = lastMessageTime
  }

  init(protobuf bytes: UnsafeRawBufferPointer) throws(CourierProtocolError) {
    id = []
    var fields = ProtobufReader(bytes)
    while let field = try fields.next() {
      switch (field.number, field.value) {
      case (1, .bytes(let value)): id = Array(value)
      case (2, .number(let value)): lastMessageTime = value
      default: continue
      }
    }
  }

  var protobuf: [UInt8] {
    var writer = ProtobufWriter()
    writer.field(1, id)
    if let lastMessageTime { writer.field(2, lastMessageTime) }
    return writer.bytes
  }
}
