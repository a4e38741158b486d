import Phone
import Platform
import PushModel
import SimulatedDevice
import Transport

/// The phone of a device command: what iOS does with what the wire brings.
final class DevicePhone {
  /// An event, and the `apns-id` of the push that it is about.
  struct Told {
    let event: PhoneEvent
    let apnsId: String?
  }

  private var phone: Phone
  private let state: AppState
  private let clock: () -> Timestamp
  private var timer: LoopEvent?
  private var count: UInt64 = 0
  /// Of pushes that may still be heard of, by number.
  private var names: [UInt64: String] = [:]
  /// What time alone brings.
  private let onTime: ([Told]) -> Void

  /// - Parameters:
  ///   - state: what its apps are doing.
  ///   - onTime: takes what happens without a push.
  init(
    _ version: IOSVersion, _ state: AppState, loop: EventLoop, clock: @escaping () -> Timestamp,
    onTime: @escaping ([Told]) -> Void
  ) {
    (phone, self.state, self.clock, self.onTime) = (Phone(version), state, clock, onTime)
    timer = LoopEvent(timerOn: loop) { [unowned self] in tick() }
  }

  /// Something has happened to the device; answers what follows on the phone.
  func hears(of event: DeviceEvent) -> [Told] {
    switch event {
    case .token(let topic, _):
      if phone[topic] == nil { install(topic) }
    case .app(let topic, .removed): phone.remove(topic)
    case .app(let topic, .installed), .app(let topic, .reinstalled): install(topic)
    case .erased: phone.erase()
    case .notification(let notification): return receive(notification)
    case .activated, .connected, .tokenRefused, .app, .disconnected: break
    }
    return []
  }

  private func install(_ topic: Topic) {
    var app = PhoneApp(topic, state: state)
    app.build.hasServiceExtension = true
    phone.install(app)
  }

  private func receive(_ notification: DeviceNotification) -> [Told] {
    if phone[notification.topic] == nil { install(notification.topic) }
    count += 1
    names[count] = notification.apnsId
    if count > UInt64(Phone.noteLimit) { names[count - UInt64(Phone.noteLimit)] = nil }
    let push = PhonePush(
      id: count, topic: notification.topic, payload: notification.payload, type: notification.pushType,
      priority: notification.priority.flatMap(Priority.init(rawValue:)) ?? .immediate,
      collapseId: notification.collapseId)
    return told(phone.receive(push, at: clock()))
  }

  private func tick() { onTime(told(phone.advance(to: clock()))) }

  private func told(_ events: [PhoneEvent]) -> [Told] {
    if let next = phone.nextMoment {
      timer?.start(afterNanoseconds: max(1_000_000, next.nanoseconds - clock().nanoseconds))
    }
    return events.map { Told(event: $0, apnsId: $0.push.flatMap { names[$0] }) }
  }
}

extension DevicePhone.Told {
  /// As `device --json` writes it (`Documentation/explain.md#on-a-phone`).
  var jsonLine: String {
    let place: [(String, JSONValue)] = [
      ("topic", .string(event.topic.name)), ("apnsId", .optional(apnsId)),
    ]
    return JSONValue.object(event.members.prefix(1) + place + event.members.dropFirst()).text
  }

  /// For people, below the line of the notification.
  var textLine: String {
    let name = event.what.name
    let detail = event.detail.isEmpty ? event.rule.sentence : event.detail
    return name + String(repeating: " ", count: max(1, 14 - name.count))
      + "\(event.topic)  \(detail.visible)  (\(event.rule.rawValue): \(event.evidence))"
  }
}
