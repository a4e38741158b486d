import Phone
import Testing

/// `Documentation/device-behaviour.md#callbacks`.
@Suite("Callbacks")
struct CallbackTableTests {
  /// The measured rows of the page; the last column is what a tap on what was shown in the background calls.
  @Test(
    "the four measured combinations",
    arguments: [
      ([.receive, .fetch, .willPresent, .response], "M4", "M5", "M5"),
      ([.receive, .fetch, .response], "M3", "–", "M5"),
      ([.receive, .fetch, .willPresent], "M4", "M3", "M3"),
      ([.receive, .fetch], "M3", "–", "M3"),
    ] as [(Set<AppCallback>, String, String, String)])
  func measured(callbacks: Set<AppCallback>, arrival: String, foregroundTap: String, backgroundTap: String) {
    var lab = Lab(.standard, .foreground, implementing: callbacks)
    let arrived = lab.receive(#"{"alert":"Hello"}"#)
    #expect(arrived.calls == arrival)
    #expect((arrived.shown != nil) == (foregroundTap != "–"))
    let tapped = lab.tapNewest()
    #expect(foregroundTap == "–" ? tapped.isEmpty : tapped.calls == foregroundTap)

    for state in [AppState.background, .suspended] {
      var lab = Lab(.standard, state, implementing: callbacks)
      let arrived = lab.receive(#"{"alert":"Hello"}"#)
      #expect(arrived.shown != nil && arrived.calls == "none")
      #expect(lab.tapNewest().calls == backgroundTap)
      #expect(lab.app.state == .foreground)
    }
  }

  private static let kinds = [
    ("alert", #"{"alert":"Hello"}"#),
    ("alert + content-available", #"{"alert":"Hello","content-available":1}"#),
    ("silent", #"{"content-available":1}"#),
  ]

  /// Every subset of M1 M3 M4 M5.
  private static let subsets: [Set<AppCallback>] = (0..<16).map { bits in
    Set(
      [.receive, .fetch, .willPresent, .response].enumerated().filter { bits >> $0.offset & 1 == 1 }.map(
        \.element))
  }

  /// What the page's rules say, in their order, written down apart from the phone.
  private func expected(
    _ has: Set<AppCallback>, _ version: IOSVersion, _ state: AppState, _ kind: String
  ) -> (arrival: String, shown: Bool, tap: String) {
    // 1. Before iOS 10 there is no M4 and no M5.
    let has = version < IOSVersion(10) ? has.subtracting([.willPresent, .response]) : has
    let foreground = state == .foreground
    let other = has.contains(.fetch) ? "M3" : foreground && has.contains(.receive) ? "M1" : "none"
    // 6. A silent push calls M3, without it M1 in the foreground; after a force-quit, or never opened, nobody.
    let isBarred = state == .forceQuit || state == .neverLaunched
    if kind == "silent" { return (isBarred ? "none" : other, false, "–") }
    let isAvailable = kind != "alert"
    // 4. M5, else M3, else M1, which is never called during a launch.
    let launches = state == .terminated || isBarred
    let tap =
      has.contains(.response)
      ? "M5"
      : has.contains(.fetch) ? "M3" : has.contains(.receive) && !launches ? "M1" : "none"
    // 2. In the foreground M4 decides, with content-available M3 as well; without M4 nothing shows.
    if foreground {
      guard has.contains(.willPresent) else { return (other, false, "–") }
      return (isAvailable && has.contains(.fetch) ? "M4 M3" : "M4", true, tap)
    }
    // 3. Elsewhere the system shows it; with content-available M3, but not after a force-quit.
    let wakes = isAvailable && has.contains(.fetch) && !isBarred
    return (wakes ? "M3" : "none", true, tap)
  }

  @Test("every combination follows from the rules, and the table is printed")
  func all() {
    var lines = [
      "implements     iOS  state          push                        on arrival             tap    by"
    ]
    for version in [IOSVersion(9), .standard] {
      for has in Self.subsets {
        for state in AppState.allCases {
          for (kind, aps) in Self.kinds {
            let wanted = expected(has, version, state, kind)
            var lab = Lab(version, state, implementing: has)
            let arrived = lab.receive(aps)
            let name = has.map(\.number).sorted().joined(separator: " ")
            let row: Comment = "\(name), iOS \(version), \(state.rawValue), \(kind)"
            #expect(arrived.calls == wanted.arrival, row)
            #expect((arrived.shown != nil) == wanted.shown, row)
            let tapped = lab.tapNewest()
            #expect(wanted.tap == "–" ? tapped.isEmpty : tapped.calls == wanted.tap, row)
            #expect(!arrived.isEmpty, row)
            lines.append(
              [
                (name.isEmpty ? "nothing" : name, 15), ("\(version)", 5), (state.rawValue, 15), (kind, 28),
                (wanted.shown ? "shown; \(arrived.calls)" : "not shown; \(arrived.calls)", 23),
                (wanted.tap == "–" ? "–" : tapped.calls, 7), ((arrived + tapped).letter.rawValue, 1),
              ].map { $0.0 + String(repeating: " ", count: max(0, $0.1 - $0.0.count)) }.joined())
          }
        }
      }
    }
    #expect(lines.count == 1 + 2 * 16 * 6 * 3)
    print(lines.joined(separator: "\n"))
  }

  @Test("a handler that is not called in time: not presented, and nobody else is called")
  func late() {
    var lab = Lab(state: .foreground) { $0.build.options = nil }
    let events = lab.receive(#"{"alert":"Hello","sound":"default","badge":3}"#)
    #expect(events.calls == "M4" && events.shown == nil && lab.app.badge == 0)
    #expect(events.has(.notPresented, .foregroundLate))
  }

  @Test("a delegate that is set too late loses the tap that launched the app, and no other")
  func delegate() {
    var lab = Lab(state: .terminated) { $0.build.setsDelegateInTime = false }
    _ = lab.receive(#"{"alert":"Hello"}"#)
    let lost = lab.tapNewest()
    #expect(lost.calls == "none" && lost.has(.noCallback, .delegateTooLate))
    _ = lab.phone.leave(Lab.topic, as: .suspended, at: lab.now)
    _ = lab.receive(#"{"alert":"Hello"}"#)
    #expect(lab.tapNewest().calls == "M5")
  }

  @Test("opening the app by its icon calls nobody, and leaves what was delivered")
  func icon() {
    var lab = Lab()
    _ = lab.receive(#"{"alert":"Hello"}"#)
    #expect(lab.phone.open(Lab.topic, at: lab.now).map(\.rule) == [.iconCallsNobody])
    #expect(lab.phone.notes.count == 1)
  }
}
