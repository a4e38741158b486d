import Basics
import Broker
import ConsoleAnswers
import Transport

/// What a console is made with besides its groups of routes. Everything is called on the loop's thread.
package struct ConsoleContext {
  package let broker: Broker
  /// The emulator's clock.
  package let now: () -> Timestamp
  /// Host of the console's listener, which is then among the allowed Host names.
  let bindHost: String
  /// Further Host names that are answered, with or without a port each.
  let allowedHosts: [String]
  /// Demanded of everybody but health checks, devices and providers; nil for none. For listeners beyond loopback.
  let accessToken: String?
  /// Whatever takes more than a moment.
  package let slices: SliceScheduler
  /// What happens here.
  package let events: OwnEvents
  /// Clients that wait for notifications.
  package let waits: WaitBoard

  /// Names this run of the emulator: what was learnt from another boot (numbers of events and notifications, for a start)
  /// says nothing about this one. Random, whatever the seed: two runs must never share it.
  package let boot = String(UInt64.random(in: 0..<1 << 62), radix: 36)

  package init(
    _ broker: Broker, now: @escaping () -> Timestamp, bindHost: String, allowedHosts: [String],
    accessToken: String?, events: OwnEvents, makeTimer: @escaping MakeTimer
  ) {
    (self.broker, self.now, self.events) = (broker, now, events)
    (self.bindHost, self.allowedHosts, self.accessToken) = (bindHost, allowedHosts, accessToken)
    slices = SliceScheduler(makeTimer: makeTimer)
    waits = WaitBoard(broker, slices)
  }

  package var makeTimer: MakeTimer { slices.makeTimer }
}

/// Does something on a thread and tells what came of it on the loop; false, and neither happens, if too much waits.
package protocol BesideLoop: AnyObject {
  func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) -> Bool
}

extension BackgroundWork: BesideLoop {}
