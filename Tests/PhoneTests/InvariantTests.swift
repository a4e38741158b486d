import Phone
import PushModel
import Testing

/// Whatever comes in whatever order.
@Suite("What always holds")
struct InvariantTests {
  private static let payloads = [
    #"{"alert":"Hello","badge":-3,"sound":"default"}"#,
    #"{"alert":{"title":"a"},"content-available":1,"badge":7}"#,
    #"{"content-available":1}"#, #"{"badge":0}"#, #"{"alert":"","mutable-content":1}"#, "{}", #""nonsense""#,
    #"{"alert":"x","interruption-level":"critical","sound":{"critical":1}}"#,
  ]

  @Test(
    "nothing shows when denied, one per collapse id, the badge is not negative, the budget is from 0 to 3",
    arguments: 1...200)
  func any(seed: UInt64) {
    var chance = SeededChoices(seed: seed)
    let isDenied = Bool.random(using: &chance)
    let version =
      [IOSVersion(7), IOSVersion(9), IOSVersion(12), IOSVersion(18)].randomElement(using: &chance)
      ?? .standard
    var lab = Lab(version, state: AppState.allCases.randomElement(using: &chance) ?? .suspended) {
      $0.permission = Permission(isDenied ? .denied : .authorized)
      $0.build.callbacks = Set(AppCallback.allCases.filter { _ in Bool.random(using: &chance) })
      ($0.build.hasServiceExtension, $0.build.mayBeCritical) = (true, Bool.random(using: &chance))
    }
    var lastAt = Lab.start
    for _ in 0..<100 {
      let events = step(&lab, &chance)
      #expect(lab.phone.notes.isEmpty || !isDenied)
      if isDenied {
        #expect(!events.contains { ["presented", "sound", "badge"].contains($0.what.name) }, "\(events)")
        #expect(!events.contains { $0.what == .extensionRan })
      }
      let named = lab.phone.notes.compactMap(\.push.collapseId)
      #expect(Set(named).count == named.count)
      #expect(lab.app.badge >= 0 && (0...3).contains(lab.app.silentBudget))
      for event in events {
        #expect(event.at >= lastAt && event.at <= lab.now)
        lastAt = event.at
        if case .callback(let callback) = event.what {
          #expect(lab.app.build.callbacks.contains(callback) && version >= callback.since)
        }
      }
    }
  }

  private func step(_ lab: inout Lab, _ chance: inout SeededChoices) -> [PhoneEvent] {
    switch chance.whole(upTo: 7) {
    case 0: return lab.wait(minutes: chance.whole(upTo: 50))
    case 1: return lab.tapNewest()
    case 2: return lab.phone.open(Lab.topic, at: lab.now)
    case 3:
      let state = AppState.allCases.randomElement(using: &chance) ?? .suspended
      return lab.phone.leave(Lab.topic, as: state, at: lab.now)
    default:
      return lab.receive(
        Self.payloads.randomElement(using: &chance) ?? "{}",
        collapseId: ["a", "b", nil].randomElement(using: &chance) ?? nil)
    }
  }
}
