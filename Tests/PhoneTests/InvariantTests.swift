import Basics
import Phone
import PushModel
import Testing

/// Whatever comes in whatever order.
@Suite("What always holds")
struct InvariantTests {
  private static let seen = ["presented", "sound", "badge", "announced"]

  @Test("any pushes and orders leave the phone in order", arguments: 1...50)
  func any(seed: UInt64) {
    var life = RandomLife(seed: seed)
    var phone = life.phone()
    var latest = Timestamp(seconds: 0)
    for number in 1...120 {
      let before = phone
      let (step, moment) = life.next()
      let events = phone.live(step, at: moment)
      let comment: Comment = "step \(number): \(step)"
      for event in events {
        // Time never goes back.
        #expect(event.at >= latest && event.at <= life.now, comment)
        latest = max(latest, event.at)
        #expect(!event.rule.evidence.isEmpty && !event.evidence.isEmpty, comment)
        if !mayNotify(event.topic, before), !mayNotify(event.topic, phone) {
          #expect(!Self.seen.contains(event.what.name) && event.what != .extensionRan, comment)
        }
      }
      check(phone, comment)
      if number % 30 == 0 { checkDocument(phone, comment) }
    }
  }

  private func mayNotify(_ topic: Topic, _ phone: SimulatedPhone) -> Bool {
    guard let status = phone[topic]?.permission.status else { return false }
    return status != .denied && status != .notDetermined
  }

  private func check(_ phone: SimulatedPhone, _ comment: Comment) {
    let named = phone.notes.compactMap { note in note.push.collapseId.map { "\(note.push.topic) \($0)" } }
    #expect(Set(named).count == named.count && phone.notes.count <= SimulatedPhone.noteLimit, comment)
    var inFront = 0
    for app in RandomLife.apps.compactMap({ phone[$0] }) {
      #expect(app.badge >= 0 && (0...3).contains(app.silentBudget), comment)
      if app.state == .foreground { inFront += 1 }
    }
    #expect(inFront <= 1, comment)
  }

  private func checkDocument(_ phone: SimulatedPhone, _ comment: Comment) {
    let bytes = phone.document.encoded
    #expect(bytes.count <= SimulatedPhone.documentLimit && JSONText.compact(bytes) == bytes, comment)
    guard let document = JSONReader.read(bytes, maximumDepth: JSONObject.bodyDepth),
      case .array(let activities)? = document.member("screen")?.member("activities")
    else {
      Issue.record("the document can't be read: \(comment)")
      return
    }
    #expect(activities.count <= 20, comment)
    for topic in RandomLife.apps {
      guard case .array(let pending)? = document.member("apps")?.member(topic.name)?.member("pending") else {
        continue
      }
      #expect(pending.count <= 64, comment)
    }
  }

  @Test("the same at the same times gives the same events and the same document", arguments: 1...25)
  func isRepeatable(seed: UInt64) {
    var (one, other) = (RandomLife(seed: seed), RandomLife(seed: seed))
    // The order in which apps came is none of a phone's business.
    var (first, second) = (one.phone(), other.phone(RandomLife.apps.reversed()))
    for _ in 1...80 {
      let (step, moment) = one.next()
      let (same, sameMoment) = other.next()
      #expect(first.live(step, at: moment) == second.live(same, at: sameMoment), "\(step)")
    }
    #expect(first.document.text == second.document.text)
  }

  @Test(
    "whoever gets it what it wants finds each token once, and nothing but what is wanted", arguments: 1...15)
  func tokens(seed: UInt64) throws {
    var life = RandomLife(seed: seed)
    var phone = life.phone()
    for topic in RandomLife.apps { phone[topic]?.build.activityTypes = ["T"] }
    var (held, number): ([TokenNeed: DeviceToken], Int) = ([:], 0)
    for _ in 1...80 {
      let (step, moment) = life.next()
      _ = phone.live(step, at: moment)
      let wanted = phone.wantedTokens
      #expect(Set(wanted).count == wanted.count && wanted.allSatisfy { phone[$0.topic.app.topic] != nil })
      held = held.filter { wanted.contains($0.key) }
      for need in wanted where held[need] == nil {
        number += 1
        let token = try Self.token(number)
        #expect(phone.take(token, of: need.topic, context: need.context, at: moment).count == 1, "\(step)")
        held[need] = token
      }
      #expect(Self.shownTokens(phone) == held.values.map(\.hex).sorted(), "\(step)")
    }
    #expect(number > 2)
  }

  private static func token(_ number: Int) throws -> DeviceToken {
    let digits = String(number, radix: 16)
    return try #require(DeviceToken(hex: String(repeating: "0", count: 64 - digits.count) + digits))
  }

  private static func shownTokens(_ phone: SimulatedPhone) -> [String] {
    let apps = phone.document.member("apps")
    return RandomLife.apps.flatMap { topic -> [String] in
      guard case .array(let tokens)? = apps?.member(topic.name)?.member("deviceTokens") else { return [] }
      return tokens.compactMap { $0.string("token") }
    }.sorted()
  }

  /// Of what repeats a phone leaves some out, if nobody has looked for long.
  private static func withoutRepeats(_ step: RandomLife.Step) -> RandomLife.Step {
    if case .order(let text) = step, text.contains(#""repeats":true"#) { .time } else { step }
  }

  @Test("whoever looks at each moment that is due sees what somebody sees who comes later", arguments: 1...20)
  func isPatient(seed: UInt64) {
    var (one, other) = (RandomLife(seed: seed), RandomLife(seed: seed))
    var (first, second) = (one.phone(), other.phone())
    var (seen, seenToo): ([PhoneEvent], [PhoneEvent]) = ([], [])
    for _ in 1...60 {
      let (step, moment) = one.next()
      for _ in 1...1000 {
        guard let next = first.nextMoment, next <= moment else { break }
        seen += first.advance(to: next)
      }
      seen += first.live(Self.withoutRepeats(step), at: moment)
      let (same, sameMoment) = other.next()
      seenToo += second.live(Self.withoutRepeats(same), at: sameMoment)
    }
    #expect(seen.map(\.rule) == seenToo.map(\.rule))
  }

  // MARK: Clocks

  private static func withRequests() -> Lab {
    var lab = Lab()
    for number in 0..<64 {
      let trigger = [#"{"after":"60s","repeats":true}"#, #"{"hour":3,"repeats":true}"#][number % 2]
      _ = lab.order(
        #"{"do":"local","topic":"com.example.app","identifier":"\#(number)","content":{"body":"x"},"trigger":\#(trigger)}"#
      )
    }
    for _ in 1...5 { _ = lab.receive(#"{"content-available":1}"#) }
    return lab
  }

  @Test(
    "a clock that jumps, by centuries or to the end of time, costs some thousand steps",
    arguments: [1, 250, 10_000])
  func jump(years: Int64) {
    var lab = Self.withRequests()
    let moment = Timestamp(seconds: Lab.start.seconds + years * 365 * 86_400)
    for _ in 1...2 { #expect(lab.phone.advance(to: moment).count < 10_000) }
    #expect(lab.app.silentBudget == 3 || years > 250)
    #expect(lab.phone.notes.count <= 64)
  }

  @Test("a clock that stands still, or goes back, brings nothing twice")
  func frozen() {
    var lab = Self.withRequests()
    let due = lab.phone.advance(to: lab.now.adding(nanoseconds: 60_000_000_000))
    #expect(due.contains { $0.what.name == "presented" })
    for moment in [Lab.start, Timestamp(seconds: 0), Timestamp(nanoseconds: .min)] {
      #expect(lab.phone.advance(to: moment).isEmpty)
    }
  }

  @Test("a phone at the beginning or the end of time", arguments: [Int64.min, -1, 0, .max])
  func ends(nanoseconds: Int64) {
    var life = RandomLife(seed: 7)
    var phone = life.phone()
    let moment = Timestamp(nanoseconds: nanoseconds)
    for _ in 1...200 { _ = phone.live(life.next().step, at: moment) }
    checkDocument(phone, "\(nanoseconds)")
  }
}
