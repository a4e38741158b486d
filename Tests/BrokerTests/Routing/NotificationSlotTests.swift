import PushModel
import TestSupport
import Testing

import Broker

/// Every state of a slot with every input. Message A is there first, with an hour to live.
@Suite("The slot of a token")
struct NotificationSlotTests {
  enum Given: String, CaseIterable {
    /// No message; the device is offline, or there with the topic enabled.
    case emptyOffline, emptyOnline
    /// A waits for the device.
    case storedOffline
    /// A was refused by the device, which is still there.
    case keptHere
    /// A was handed to the device.
    case inFlight
  }

  enum Input: String, CaseIterable {
    case push, pushOnce, pushPast, enable, disable, disconnect, acknowledge, refuse, acknowledgeUnknown
    case expiryNotYet, expiryPassed, reportGone
  }

  struct Outcome: Equatable {
    var state: NotificationSlot.State
    var kept: String?
    var received: [String]

    init(_ state: NotificationSlot.State, _ kept: String?, _ received: [String]) {
      (self.state, self.kept, self.received) = (state, kept, received)
    }
  }

  static func expected(_ given: Given, _ input: Input) -> Outcome {
    switch (given, input) {
    // Away and nothing kept: only a message that may be kept changes that.
    case (.emptyOffline, .push): Outcome(.stored, "B", [])
    case (.emptyOffline, _): Outcome(.empty, nil, [])

    case (.emptyOnline, .push): Outcome(.inFlight, "B", ["B"])
    case (.emptyOnline, .pushOnce), (.emptyOnline, .pushPast): Outcome(.empty, nil, ["B"])
    case (.emptyOnline, _): Outcome(.empty, nil, [])

    case (.storedOffline, .push): Outcome(.stored, "B", [])
    case (.storedOffline, .enable): Outcome(.inFlight, "A", ["A"])
    case (.storedOffline, .expiryPassed), (.storedOffline, .reportGone): Outcome(.empty, nil, [])
    case (.storedOffline, _): Outcome(.stored, "A", [])

    case (.keptHere, .push): Outcome(.inFlight, "B", ["A", "B"])
    case (.keptHere, .pushOnce), (.keptHere, .pushPast): Outcome(.stored, "A", ["A", "B"])
    case (.keptHere, .expiryPassed), (.keptHere, .reportGone): Outcome(.empty, nil, ["A"])
    case (.keptHere, _): Outcome(.stored, "A", ["A"])

    case (.inFlight, .push): Outcome(.inFlight, "B", ["A", "B"])
    case (.inFlight, .pushOnce), (.inFlight, .pushPast): Outcome(.inFlight, "A", ["A", "B"])
    case (.inFlight, .acknowledge), (.inFlight, .reportGone): Outcome(.empty, nil, ["A"])
    case (.inFlight, .refuse), (.inFlight, .disconnect): Outcome(.stored, "A", ["A"])
    case (.inFlight, _): Outcome(.inFlight, "A", ["A"])
    }
  }

  @Test(
    "does what the diagram says",
    arguments: Given.allCases.flatMap { given in Input.allCases.map { (given, $0) } })
  func transition(_ pair: (Given, Input)) throws {
    let lab = Lab()
    let row = try lab.row()
    let phone = try prepare(pair.0, lab, row)
    try apply(pair.1, lab, row, phone)
    let slot = lab.slot(row)
    #expect(Outcome(slot.state, lab.kept(row), phone.texts) == Self.expected(pair.0, pair.1))
  }

  private func prepare(_ given: Given, _ lab: Lab, _ row: RegistrationID) throws -> TestDevice {
    switch given {
    case .emptyOffline, .storedOffline:
      if given == .storedOffline { lab.push(row, "A", expiration: lab.time(in: 3600)) }
      return TestDevice(connectedAt: lab.now)
    case .emptyOnline: return try lab.connect(enabling: [Lab.app])
    case .keptHere, .inFlight:
      let phone = try lab.connect(enabling: [Lab.app])
      lab.push(row, "A", expiration: lab.time(in: 3600))
      if given == .keptHere { lab.acknowledge(phone, 0, status: 2) }
      return phone
    }
  }

  private func apply(_ input: Input, _ lab: Lab, _ row: RegistrationID, _ phone: TestDevice) throws {
    let id = lab.slot(row).head.id
    switch input {
    case .push: lab.push(row, "B", expiration: lab.time(in: 3600))
    case .pushOnce: lab.push(row, "B", expiration: 0)
    case .pushPast: lab.push(row, "B", expiration: lab.time(in: -1))
    case .enable:
      if phone.session == nil { _ = try lab.connect(on: phone) }
      try lab.enable([Lab.app], on: phone)
    case .disable: if phone.session != nil { try lab.enable([], on: phone) }
    case .disconnect: if phone.session != nil { try lab.disconnect(phone) }
    case .acknowledge, .refuse:
      let status: UInt8 = input == .refuse ? 2 : 0
      lab.broker.deliveries.acknowledge(phone.link, messageId: UInt32(id), status: status, now: lab.now)
    case .acknowledgeUnknown:
      #expect(
        lab.broker.deliveries.acknowledge(phone.link, messageId: 999_999, status: 0, now: lab.now) == .stray)
    case .expiryNotYet, .expiryPassed:
      lab.pass(seconds: input == .expiryPassed ? 3600 : 3599)
      lab.broker.deliveries.dropExpired(now: lab.now, budget: 10)
    case .reportGone: lab.broker.feedback.reportGone(row, now: lab.now)
    }
  }
}
