@_exported import struct Faults.FaultEffects
@_exported import struct Faults.FaultMatch
@_exported import enum Faults.FaultPlace
@_exported import struct Faults.FaultRule
@_exported import enum Faults.FaultSchedule
import Basics
import Foundation

/// What goes wrong on purpose (`Documentation/faults.md` has every effect).
extension APNSEmulator {
  /// Has something go wrong: the closure says what, the rest says where and when. A fault of the same name is replaced.
  ///
  /// ```swift
  /// try await emulator.inject("busy", into: .provider, when: .next(2)) { $0.reason = .serviceUnavailable }
  /// try await emulator.inject("lost", into: .gateway, topic: "com.example.app") { $0.resetsConnection = true }
  /// try await emulator.inject("away", into: .courier) { $0.courier = .drop }
  /// ```
  ///
  /// - Parameters:
  ///   - name: Any name; what it was injected into has it in `Push.fault`.
  ///   - place: The listener; nil for all.
  ///   - topic: The only topic that it matches; nil for all.
  ///   - token: The only token, in hexadecimal; nil for all.
  ///   - schedule: Which of the moments that it is about it is injected at.
  ///   - effects: What happens. All have to belong to one moment: a new connection, a push, or a delivery.
  /// - Throws: `APNSEmulatorError` with `.invalid` for effects that don't go together, or none.
  public func inject(
    _ name: String, into place: FaultPlace? = nil, topic: String? = nil, token: String? = nil,
    when schedule: FaultSchedule = .always, _ effects: @Sendable (inout FaultEffects) -> Void
  ) throws {
    var match = FaultMatch()
    (match.place, match.topic) = (place, topic)
    if let token {
      guard let bytes = Hex.decode(token) else {
        throw APNSEmulatorError(.invalid, "expected a device token in hexadecimal digits, got \"\(token)\"")
      }
      match.token = bytes
    }
    var wanted = FaultEffects()
    effects(&wanted)
    try inject(FaultRule(name: name, match: match, schedule: schedule, effects: wanted))
  }

  /// The same with a rule that is put together elsewhere.
  ///
  /// ```swift
  /// var effects = FaultEffects()
  /// effects.delay = .init(milliseconds: 300)
  /// try await emulator.inject(FaultRule(name: "slow", schedule: .every(3), effects: effects))
  /// ```
  public func inject(_ rule: FaultRule) throws {
    try checkLife()
    guard rule.effects.stage != nil else {
      throw APNSEmulatorError(
        .invalid,
        "expected effects of one kind (of a new connection, a push, or a delivery), got several or none")
    }
    guard live.emulator.faultEngine.set(rule) else {
      throw APNSEmulatorError(.refused, "the emulator has as many faults as it can hold")
    }
  }

  /// The fault as it stands, with how often it was injected (`hits`); nil if there is none of this name.
  ///
  /// ```swift
  /// #expect(await emulator.fault("busy")?.hits == 2)
  /// ```
  public func fault(_ name: String) -> FaultRule? { live.emulator.faultEngine[name] }

  /// Takes a fault away; what it held up goes on. Answers whether there was one.
  ///
  /// ```swift
  /// await emulator.removeFault("busy")
  /// ```
  @discardableResult
  public func removeFault(_ name: String) -> Bool { live.emulator.faultEngine.remove(name) }

  /// Takes all faults away.
  ///
  /// ```swift
  /// await emulator.removeFaults()
  /// ```
  public func removeFaults() { live.emulator.faultEngine.removeAll() }
}

/// The clock that every expiry and every date of the emulator goes by. What waits in real time (delays, timeouts) does not.
extension APNSEmulator {
  /// The emulator's present moment.
  ///
  /// ```swift
  /// let token = try key.token(issued: await emulator.now)
  /// ```
  public var now: Date { Date(live.emulator.clock.now()) }

  /// Lets time stand still, until `unfreezeClock` or `resetClock`.
  ///
  /// ```swift
  /// await emulator.freezeClock()
  /// ```
  public func freezeClock() { live.emulator.clock.setFrozen(true) }

  /// Lets time go on from where it stood.
  ///
  /// ```swift
  /// await emulator.unfreezeClock()
  /// ```
  public func unfreezeClock() { live.emulator.clock.setFrozen(false) }

  /// Moves the clock forward (or back, if negative), frozen or not; what ends by that is ended.
  ///
  /// ```swift
  /// await emulator.advanceClock(by: .seconds(61 * 60))  // the provider token is too old now
  /// ```
  public func advanceClock(by duration: Duration) {
    live.emulator.clock.advance(nanoseconds: duration.nanoseconds)
    live.emulator.clockWasMoved()
  }

  /// Makes it another moment; time goes on from there unless it stands still.
  ///
  /// ```swift
  /// await emulator.setClock(to: Date(timeIntervalSince1970: 1_767_225_600))
  /// ```
  public func setClock(to date: Date) {
    live.emulator.clock.set(Timestamp(date))
    live.emulator.clockWasMoved()
  }

  /// Follows the wall clock again.
  ///
  /// ```swift
  /// await emulator.resetClock()
  /// ```
  public func resetClock() {
    live.emulator.clock.reset()
    live.emulator.clockWasMoved()
  }
}
