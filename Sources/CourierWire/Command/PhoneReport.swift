/// What a simulated device tells of its phone, with a private command (`CourierItem`): what has happened on it, and how it is
/// now. Nobody has looked into the JSON.
public struct PhoneReport: CourierFormed {
  public static let command = CourierCommand.phoneReport
  public static let form = CourierForm<PhoneReport>([
    CourierField(1, .integer, \.number), CourierField(2, .text, \.problem), CourierField(parts: 3, \.events),
    CourierField(parts: 4, \.document), CourierField(5, .integer, \.lost),
  ])

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

  public init() { self.init(number: nil) }
}
