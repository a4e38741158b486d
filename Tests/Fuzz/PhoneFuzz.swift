import Basics
import Phone
import PushModel

/// A life of a phone, a thing a line: an order in JSON; a duration after `+`; anything else is a push, its first byte choosing
/// the type, priority, collapse id and token. What the phone wants it gets at once. Two phones that live the same are the same, and what always holds, holds.
struct PhoneFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    let lines = input.split(separator: UInt8(ascii: "\n")).prefix(64).map { Array($0) }
    guard let life = Life(lines), let same = Life(lines) else { return }
    precondition(life.events == same.events && life.phone.document.text == same.phone.document.text)
    let document = life.phone.document.encoded
    precondition(document.count <= SimulatedPhone.documentLimit && JSONText.compact(document) == document)
    for line in lines.prefix(2) {
      let payload = Array(line.dropFirst())
      _ = PushExplanation(payload: payload, type: line.first.flatMap(PushType.init(choosing:))).json.encoded
    }
  }
}

private struct Life {
  private(set) var phone = SimulatedPhone()
  private(set) var events: [PhoneEvent] = []
  private let topic: Topic
  private var now = Timestamp(seconds: 1_600_000_000)

  init?(_ lines: [[UInt8]]) {
    guard let topic = Topic("com.example.app") else { return nil }
    self.topic = topic
    phone.install(PhoneApp(topic))
    for line in lines { live(line) }
  }

  private mutating func live(_ line: [UInt8]) {
    switch line.first {
    case UInt8(ascii: "{"): obey(line)
    case UInt8(ascii: "+"): wait(line.dropFirst())
    case let first?: receive(line.dropFirst(), first)
    case nil: break
    }
    serve()
    if let app = phone[topic] { precondition(app.badge >= 0 && (0...3).contains(app.silentBudget)) }
    precondition(phone.notes.count <= SimulatedPhone.noteLimit)
    if let next = phone.nextMoment { precondition(next >= Timestamp(seconds: 0)) }
  }

  private mutating func serve() {
    let wanted = phone.wantedTokens
    precondition(Set(wanted).count == wanted.count && wanted.count <= 40)
    guard let token = DeviceToken(hex: String(repeating: "a", count: 64)) else { return }
    for need in wanted { events += phone.take(token, of: need.topic, context: need.context, at: now) }
    precondition(phone.wantedTokens == wanted)
  }

  private mutating func obey(_ line: [UInt8]) {
    guard let value = JSONReader.read(line, maximumDepth: JSONObject.bodyDepth) else { return }
    events += (try? phone.perform(PhoneOrder(value), at: now)) ?? []
  }

  private mutating func wait(_ text: some Sequence<UInt8>) {
    guard let span = DurationText.nanoseconds(String(decoding: Array(text), as: UTF8.self)) else { return }
    now = now.adding(nanoseconds: span)
    events += phone.advance(to: now)
  }

  private mutating func receive(_ payload: some Sequence<UInt8>, _ choice: UInt8) {
    var push = PhonePush(
      id: phone.makeId(), topic: topic, payload: Array(payload), type: PushType(choosing: choice),
      priority: choice & 0x10 == 0 ? .immediate : .conserving, collapseId: choice & 0x20 == 0 ? nil : "a")
    switch choice >> 6 {
    case 1: push.token = .context(.start(attributesType: "T"))
    case 2: push.token = .context(.activity(id: "activity-1"))
    case 3: push.token = .channel("YWJj")
    default: break
    }
    events += phone.receive(push, at: now)
  }
}

extension PushType {
  /// nil for bytes whose lower half names none.
  fileprivate init?(choosing byte: UInt8) { self.init(rawValue: byte & 0x0f) }
}
