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

  /// One row of the table.
  private struct Row {
    let has: Set<AppCallback>
    let version: IOSVersion
    let state: AppState
    let kind: (name: String, aps: String)

    var name: String {
      has.isEmpty ? "nothing" : has.map(\.number).sorted().joined(separator: " ")
    }
    var isSilent: Bool { kind.name == "silent" }
    var isAvailable: Bool { kind.name != "alert" }
    var isForeground: Bool { state == .foreground }
    /// What there is on this version.
    var present: Set<AppCallback> {
      version < IOSVersion(10) ? has.subtracting([.willPresent, .response]) : has
    }
  }

  private static let kinds = [
    ("alert", #"{"alert":"Hello"}"#),
    ("alert + content-available", #"{"alert":"Hello","content-available":1}"#),
    ("silent", #"{"content-available":1}"#),
  ]

  /// Every subset of M1 M3 M4 M5, on an iOS before 10 and on one since, in the states of the page, with each kind.
  private static let rows: [Row] = [IOSVersion(9), .standard].flatMap { version in
    (0..<16).flatMap { bits in
      let has = Set(
        [AppCallback.receive, .fetch, .willPresent, .response].enumerated()
          .filter { bits >> $0.offset & 1 == 1 }.map(\.element))
      return AppState.allCases.filter { $0 != .neverLaunched }.flatMap { state in
        kinds.map { Row(has: has, version: version, state: state, kind: $0) }
      }
    }
  }

  /// What the page's rules say, in their order, written down apart from the phone.
  private func expected(_ row: Row) -> (arrival: String, shown: Bool, tap: String) {
    // 1. Before iOS 10 there is no M4 and no M5.
    let has = row.present
    let other = has.contains(.fetch) ? "M3" : row.isForeground && has.contains(.receive) ? "M1" : "none"
    // 6. A silent push calls M3, without it M1 in the foreground; after a force-quit nobody.
    if row.isSilent { return (row.state == .forceQuit ? "none" : other, false, "–") }
    // 4. M5, else M3, else M1, which is never called during a launch.
    let launches = !row.state.isRunning
    let tap =
      has.contains(.response)
      ? "M5" : has.contains(.fetch) ? "M3" : has.contains(.receive) && !launches ? "M1" : "none"
    // 2. In the foreground M4 decides, with content-available M3 as well; without M4 nothing shows.
    if row.isForeground {
      guard has.contains(.willPresent) else { return (other, false, "–") }
      return (row.isAvailable && has.contains(.fetch) ? "M4 M3" : "M4", true, tap)
    }
    // 3. Elsewhere the system shows it; with content-available M3, but not after a force-quit.
    let wakes = row.isAvailable && has.contains(.fetch) && row.state != .forceQuit
    return (wakes ? "M3" : "none", true, tap)
  }

  /// Whether it is one of the four that were measured: an alert, to an app in the foreground, background or inactive.
  private func isMeasured(_ row: Row) -> Bool {
    let others: [Set<AppCallback>] = [[.willPresent, .response], [.response], [.willPresent], []]
    return row.version >= IOSVersion(10) && row.kind.name == "alert" && row.state.isRunning
      && row.has.isSuperset(of: [.receive, .fetch])
      && others.contains(row.has.subtracting([.receive, .fetch]))
  }

  /// How a row is known, by the letters of the page. What was measured with other callbacks only is our choice here.
  private func expectedLetter(_ row: Row) -> Evidence {
    let has = row.present
    if isMeasured(row) { return .measured }
    if row.isForeground {
      // Without M3 a silent push goes to M1: O.
      if row.isSilent { return !has.contains(.fetch) && has.contains(.receive) ? .ours : .documented }
      // Hidden without M4: measured for four combinations. M4 beside M3 with content-available: O.
      guard has.contains(.willPresent) else { return .ours }
      if row.isAvailable, has.contains(.fetch) { return .ours }
    } else if row.isSilent {
      return .documented
    }
    // The tap: M5 and M1 as documented, M3 measured for four combinations, nobody: our choice.
    if has.contains(.response) { return .documented }
    return !has.contains(.fetch) && has.contains(.receive) ? .documented : .ours
  }

  @Test("every combination follows from the rules, and the table is printed")
  func all() {
    #expect(Self.rows.count == 480 && Self.rows.count(where: isMeasured) == 12)
    var lines = [
      "implements     iOS  state          push                        on arrival             tap    by",
      String(repeating: "-", count: 94),
    ]
    for row in Self.rows {
      let wanted = expected(row)
      var lab = Lab(row.version, row.state, implementing: row.has)
      let arrived = lab.receive(row.kind.aps)
      let text: Comment = "\(row.name), iOS \(row.version), \(row.state.rawValue), \(row.kind.name)"
      #expect(!arrived.isEmpty && arrived.calls == wanted.arrival, text)
      #expect((arrived.shown != nil) == wanted.shown, text)
      let tapped = lab.tapNewest()
      #expect(wanted.tap == "–" ? tapped.isEmpty : tapped.calls == wanted.tap, text)
      let letter = isMeasured(row) ? Evidence.measured : (arrived + tapped).letter
      #expect(letter == expectedLetter(row), text)
      if isMeasured(row) { #expect((arrived + tapped).isMeasured, text) }
      lines.append(line(row, wanted, letter))
    }
    print(lines.joined(separator: "\n"))
  }

  private func line(_ row: Row, _ wanted: (arrival: String, shown: Bool, tap: String), _ letter: Evidence)
    -> String
  {
    [
      (row.name, 15), ("\(row.version)", 5), (row.state.rawValue, 15), (row.kind.name, 28),
      ("\(wanted.shown ? "shown" : "not shown"); \(wanted.arrival)", 23), (wanted.tap, 7),
      (letter.rawValue, 1),
    ].map { $0.0 + String(repeating: " ", count: max(0, $0.1 - $0.0.count)) }.joined()
  }

  @Test("an app that was never opened is not woken, and shows what it is allowed", arguments: [9, 18])
  func neverLaunched(version: Int) {
    let all = Set(AppCallback.allCases)
    var lab = Lab(IOSVersion(version), .neverLaunched, implementing: all)
    #expect(lab.receive(#"{"content-available":1}"#).has(.dropped, .neverLaunched))
    let events = lab.receive(#"{"alert":"Hello","content-available":1}"#)
    #expect(events.shown != nil && events.calls == "none")
    #expect(lab.tapNewest().calls == (version < 10 ? "M3" : "M5"))
  }

  @Test(
    "badge alone and sound alone go to M4, as a text does",
    arguments: [#"{"badge":3}"#, #"{"sound":"default"}"#])
  func withoutText(aps: String) {
    var lab = Lab(state: .foreground)
    #expect(lab.receive(aps).calls == "M4")
    var hidden = Lab(.standard, .foreground, implementing: [.fetch])
    let events = hidden.receive(aps)
    #expect(events.calls == "M3" && hidden.app.badge == 0 && !events.contains { $0.what.name == "sound" })
  }

  @Test("options of M4 by version: up to 13 one word for banner and list", arguments: [10, 13, 14])
  func options(version: Int) {
    for (option, places) in [("alert", [.banner, .list]), ("banner", .banner), ("list", .list)]
      as [(String, Presentation)]
    {
      var lab = Lab(IOSVersion(version), state: .foreground)
      _ = lab.set(#"{"options":["\#(option)"]}"#)
      #expect(lab.receive(#"{"alert":"x"}"#).shown == (version < 14 ? [.banner, .list] : places))
    }
  }

  @Test("with content-available M3 runs on arrival, and without M5 again on the tap")
  func twice() {
    var lab = Lab(.standard, .suspended, implementing: [.fetch])
    #expect(lab.receive(#"{"alert":"x","content-available":1}"#).has(.callback(.fetch), .alertWakes))
    #expect(lab.tapNewest().has(.callback(.fetch), .tapFetchAgain))
  }

  @Test("a handler that is not called in time: not presented, and no other method is called")
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
    _ = lab.leave(as: .suspended)
    _ = lab.receive(#"{"alert":"Hello"}"#)
    #expect(lab.tapNewest().calls == "M5")
  }

  @Test("opening the app by its icon calls nobody, and leaves what was delivered")
  func icon() {
    var lab = Lab()
    _ = lab.receive(#"{"alert":"Hello"}"#)
    #expect(lab.open().map(\.rule) == [.iconCallsNobody])
    #expect(lab.phone.notes.count == 1)
  }
}
