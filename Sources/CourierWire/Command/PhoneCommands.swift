import PushModel

/// What a person did to an app, or to the whole phone: the console tells the simulated device with this private
/// command (`CourierItem`).
public struct AppStateChange: CourierCommandValue {
  public static let command = CourierCommand.appState
  public static let form = CourierForm<AppStateChange>([
    CourierField(1, .topicHash, \.topic), CourierField(2, .action, \.action),
    CourierField(3, .topicName, \.topicName),
  ])

  /// What happened.
  public enum Action: UInt8, Sendable, CaseIterable {
    case removed = 1
    case installed = 2
    /// Removed and installed again: the old token is gone.
    case reinstalled = 3
    /// A new version: the token stays.
    case updated = 4
    /// The whole device: its identity is gone, and every app with its tokens.
    case erased = 5
    /// The whole device is another one with the same apps, as from a backup: its identity and every token are gone.
    case restored = 6

    /// Whether it is about the device, and not about one of its apps.
    public var isOfDevice: Bool { self == .erased || self == .restored }

    public var name: String { String(describing: self) }
  }

  public var action: Action
  /// Nil when the whole device is meant.
  public var topic: TopicHash?
  /// Tells a device of an app that it did not have.
  public var topicName: Topic?

  public init(_ action: Action, topic: TopicHash? = nil, topicName: Topic? = nil) {
    self.action = action
    self.topic = topic
    self.topicName = topicName
  }

  public init() { self.init(.removed) }
}

extension CourierKind where Value == AppStateChange.Action {
  fileprivate static var action: Self {
    Self(packing: CourierItemPacking(width: 1)) { (item) throws(CourierProtocolError) in
      Value(rawValue: try item.requireInteger())
    } write: {
      $1.append($0.rawValue)
    }
  }
}

/// What the emulator tells a simulated device that has a phone, with a private command (`CourierItem`): what a person does
/// to the phone, or how late the emulator's clock says that it is.
public struct PhoneOrderCommand: CourierCommandValue {
  public static let command = CourierCommand.phoneOrder
  public static let form = CourierForm<PhoneOrderCommand>([
    CourierField(1, .integer, \.number), CourierField(parts: 2, \.order), CourierField(3, .integer, \.now),
    CourierField(4, .integer, \.isFrozen),
  ])

  /// The emulator's clock.
  public struct Clock: Equatable, Sendable {
    /// Nanoseconds since 1970.
    public var now: UInt64
    /// Whether it stands still until it is told again.
    public var isFrozen: Bool

    public init(now: UInt64, isFrozen: Bool) { (self.now, self.isFrozen) = (now, isFrozen) }
  }

  /// Named again in the report that answers the order; nil if nothing is asked for.
  public var number: UInt32?
  /// What to do, one JSON object in UTF-8; empty for nothing.
  public var order: [UInt8]
  private var now: UInt64?
  private var isFrozen: UInt8?

  public var clock: Clock? {
    get { now.map { Clock(now: $0, isFrozen: isFrozen ?? 0 != 0) } }
    set { (now, isFrozen) = (newValue?.now, newValue.map { $0.isFrozen ? 1 : 0 }) }
  }

  public init(number: UInt32? = nil, order: [UInt8] = [], clock: Clock? = nil) {
    (self.number, self.order) = (number, order)
    self.clock = clock
  }

  public init() { self.init(number: nil) }
}

/// What a simulated device tells of its phone, with a private command (`CourierItem`): what has happened on it, and how it is
/// now. Nobody has looked into the JSON.
public struct PhoneReport: CourierCommandValue {
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
