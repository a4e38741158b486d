import PushModel

/// What a person did to an app, or to the whole phone: the console tells the simulated device with this private
/// command (`CourierItem`).
package struct AppStateChange: CourierCommandValue {
  package static let command = CourierCommand.appState
  package static let form = CourierForm<AppStateChange>([
    CourierField(1, .topicHash, \.topic), CourierField(2, .action, \.action),
    CourierField(3, .topicName, \.topicName),
  ])

  /// What happened.
  package enum Action: UInt8, Sendable, CaseIterable {
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
    package var isOfDevice: Bool { self == .erased || self == .restored }

    package var name: String { String(describing: self) }
  }

  package var action: Action
  /// Nil when the whole device is meant.
  package var topic: TopicHash?
  /// Tells a device of an app that it did not have.
  package var topicName: Topic?

  package init(_ action: Action, topic: TopicHash? = nil, topicName: Topic? = nil) {
    self.action = action
    self.topic = topic
    self.topicName = topicName
  }

  package init() { self.init(.removed) }
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
package struct PhoneOrderCommand: CourierCommandValue {
  package static let command = CourierCommand.phoneOrder
  package static let form = CourierForm<PhoneOrderCommand>([
    CourierField(1, .integer, \.number), CourierField(parts: 2, \.order), CourierField(3, .integer, \.now),
    CourierField(4, .integer, \.isFrozen),
  ])

  /// The emulator's clock.
  package struct Clock: Equatable, Sendable {
    /// Nanoseconds since 1970.
    package var now: UInt64
    /// Whether it stands still until it is told again.
    package var isFrozen: Bool

    package init(now: UInt64, isFrozen: Bool) { (self.now, self.isFrozen) = (now, isFrozen) }
  }

  /// Named again in the report that answers the order; nil if nothing is asked for.
  package var number: UInt32?
  /// What to do, one JSON object in UTF-8; empty for nothing.
  package var order: [UInt8]
  private var now: UInt64?
  private var isFrozen: UInt8?

  package var clock: Clock? {
    get { now.map { Clock(now: $0, isFrozen: isFrozen ?? 0 != 0) } }
    set { (now, isFrozen) = (newValue?.now, newValue.map { $0.isFrozen ? 1 : 0 }) }
  }

  package init(number: UInt32? = nil, order: [UInt8] = [], clock: Clock? = nil) {
    (self.number, self.order) = (number, order)
    self.clock = clock
  }

  package init() { self.init(number: nil) }
}

/// What a simulated device tells of its phone, with a private command (`CourierItem`): what has happened on it, and how it is
/// now. Nobody has looked into the JSON.
package struct PhoneReport: CourierCommandValue {
  package static let command = CourierCommand.phoneReport
  package static let form = CourierForm<PhoneReport>([
    CourierField(1, .integer, \.number), CourierField(2, .text, \.problem), CourierField(parts: 3, \.events),
    CourierField(parts: 4, \.document), CourierField(5, .integer, \.lost),
  ])

  /// The order that this answers; nil for what the phone tells by itself.
  package var number: UInt32?
  /// Why the order could not be carried out, or the phone not be described; nil if it was.
  package var problem: String?
  /// A JSON array in UTF-8; empty for none.
  package var events: [UInt8]
  /// How the phone is now, a JSON object in UTF-8; empty if that is left out. At most `CourierLimits.phoneByteCount`.
  package var document: [UInt8]
  /// Events that found no room and are not told, as a count.
  package var lost: UInt32?

  package init(
    number: UInt32? = nil, problem: String? = nil, events: [UInt8] = [], document: [UInt8] = [],
    lost: UInt32? = nil
  ) {
    (self.number, self.problem, self.events, self.document) = (number, problem, events, document)
    self.lost = lost
  }

  package init() { self.init(number: nil) }
}
