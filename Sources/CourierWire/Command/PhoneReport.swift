/// What a simulated device tells of its phone, with a private command (`CourierItem`): what has happened on it, and how it is
/// now. Nobody has looked into the JSON.
public struct PhoneReport: CourierCommandValue {
  public static let command = CourierCommand.phoneReport

  /// The order that this answers; nil for what the phone tells by itself.
  public var number: UInt32?
  /// Why the order could not be carried out, or the phone not be described; nil if it was.
  public var problem: String?
  /// A JSON array in UTF-8; empty for none.
  public var events: [UInt8]
  /// How the phone is now, a JSON object in UTF-8; empty if that is left out. At most `CourierLimits.phoneByteCount`.
  public var document: [UInt8]
  /// Events that found no room and are not told, as a count.
  public var lost: UInt32?

  public init(
    number: UInt32? = nil, problem: String? = nil, events: [UInt8] = [], document: [UInt8] = [],
    lost: UInt32? = nil
  ) {
    (self.number, self.problem, self.events, self.document) = (number, problem, events, document)
    self.lost = lost
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    self.init()
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.PhoneReport(rawValue: item.id) {
      case .number: number = try item.requireInteger()
      case .problem: problem = item.text
      case .events: events += item.value
      case .document: document += item.value
      case .lost: lost = try item.requireInteger()
      case nil: continue
      }
    }
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.PhoneReport
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.number, number)
    writer.item(Item.problem, problem.map { Array($0.utf8.prefix(CourierLimits.itemByteCount)) })
    writer.items(Item.events, events)
    writer.items(Item.document, document)
    writer.item(Item.lost, lost)
    return writer.finish()
  }
}
