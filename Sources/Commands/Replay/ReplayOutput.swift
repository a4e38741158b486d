import Basics
import Capture
import Platform
import Replay

/// What `replay` says: differences as they are found, a bar on a terminal, and the report, which counts all of them.
final class ReplayOutput: ReplayObserver {
  /// How often the bar moves, in nanoseconds, and how wide it is.
  private static let interval: Int64 = 200_000_000
  private static let width = 30
  /// Pairs of outcomes in the report for people.
  private static let pairsShown = 20
  /// Lines are written once there are so many bytes of them.
  private static let buffered = 1 << 16

  var report = ReplayReport()
  /// Why something could not be told.
  private(set) var failure: (any Error)?
  private let isJSON: Bool
  /// How many differences are still to be told, and how many were not.
  private var room: Int
  private var untold = 0
  private let files: [String]
  private let hasBar = StandardDescriptors.isTerminal(StandardDescriptors.error)
  private let startedAt = SystemClock.now()
  private var drawnAt = Instant.distantPast
  private var lines = ""

  /// A capture of a million pushes can have as many differences: they are told one by one up to a number.
  init(_ settings: Settings) {
    (isJSON, files) = (settings.isOn(CommonFlags.json), settings.arguments)
    room = settings[ReplayCommand.differences] ?? 100
  }

  // MARK: Pushes

  func settled(_ push: ReplayedPush) {
    let old = OutcomeComparison.words(push.recorded, push.recordedForm)
    guard let outcome = push.outcome else {
      report.addUnanswered(old: old, why: "no answer")
      return say(push, old, "no answer: \(push.failure)")
    }
    let areEqual = OutcomeComparison.areEqual(push.recorded, push.recordedForm, outcome, push.form)
    let new = OutcomeComparison.words(outcome, push.form)
    report.add(old: old, new: new, areEqual: areEqual)
    if !areEqual { say(push, old, new) }
  }

  private func say(_ push: ReplayedPush, _ old: String, _ new: String) {
    guard room > 0 else { return untold += 1 }
    room -= 1
    let tag = ReplayTag(push.tag)
    let (file, line) = (files[tag.file], tag.line)
    let id = push.identifier.map { "\($0)" } ?? push.recorded.apnsID?.description
    if isJSON {
      let value: JSONValue = [
        "file": .string(file), "line": line.json, "place": tag.place.json,
        "id": .optional(id), "old": .string(old), "new": .string(new),
      ]
      lines += value.text + "\n"
    } else {
      // Frames may share a line.
      let place = tag.place > 0 ? " frame \(tag.place + 1)" : ""
      lines += "\(file):\(line)\(place)\(id.map { "  id \($0)" } ?? "")  \(old) → \(new)\n"
    }
    if lines.utf8.count >= Self.buffered { flush() }
  }

  func flush() {
    guard !lines.isEmpty else { return }
    if hasBar { clearBar() }
    tell(String(lines.dropLast()))
    lines = ""
  }

  private func tell(_ text: String) {
    guard failure == nil else { return }
    do { try Output.line(text) } catch { failure = error }
  }

  // MARK: Bar

  func progress(_ done: Int, of size: Int) {
    guard hasBar else { return }
    let now = SystemClock.now()
    guard now.nanoseconds(since: drawnAt) >= Self.interval else { return }
    drawnAt = now
    let share = size > 0 ? min(1, Double(done) / Double(size)) : 0
    let full = Int(share * Double(Self.width))
    let bar = String(repeating: "█", count: full) + String(repeating: "░", count: Self.width - full)
    let rate = Int(Double(report.total) * 1e9 / Double(max(1, now.nanoseconds(since: startedAt))))
    Output.status(
      "\r\(bar) \(Int(share * 100)) %  \(Self.pushes(report.total))  \(rate)/s  \(report.different) different "
    )
  }

  private func clearBar() { Output.status("\r\u{1b}[K") }

  // MARK: Report

  /// The replay has come to its end. Throws if something could not be told.
  func finish() throws {
    flush()
    if hasBar { clearBar() }
    if untold > 0, !isJSON { tell("and \(untold) more; --differences all reports each") }
    let seconds = Double(SystemClock.now().nanoseconds(since: startedAt)) / 1e9
    tell(isJSON ? json(seconds).text : text(seconds))
    if let failure { throw failure }
  }

  /// The replay can't go on: what it came to is no result.
  func breakOff() {
    flush()
    if hasBar { clearBar() }
    guard report.total > 0 else { return }
    Output.complain(
      "stopped after \(Self.pushes(report.total)): \(report.same) the same, \(report.different) different")
  }

  /// `1 push`, `2 pushes`.
  private static func pushes(_ count: Int) -> String { "\(count) push\(count == 1 ? "" : "es")" }

  private func json(_ seconds: Double) -> JSONValue {
    let pairs = report.pairs.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }
    return [
      "pushes": report.pushes.json, "same": report.same.json, "different": report.different.json,
      "unanswered": report.unanswered.json,
      "untranslatable": report.untranslatable.json, "lost": report.lost.json,
      "untold": untold.json, "seconds": .number(seconds), "outcomes": .object(pairs),
    ]
  }

  private func text(_ seconds: Double) -> String {
    let rate = Int(Double(report.total) / max(seconds, 1e-9))
    let tenths = Int(seconds * 10)
    var text = "\(Self.pushes(report.total)) in \(tenths / 10).\(tenths % 10) s (\(rate)/s): "
    text += "\(report.same) the same, \(report.different) different"
    if report.unanswered > 0 { text += ", \(report.unanswered) unanswered" }
    if report.untranslatable > 0 {
      text += ", \(report.untranslatable) that the other protocol can't express"
    }
    if report.lost > 0 { text += "; the capture lacks \(report.lost) that the recording lost" }
    for (pair, count) in report.pairs.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(
      Self.pairsShown)
    {
      text += "\n  \(count)  \(pair)"
    }
    if report.unknownTokens > 0 {
      text +=
        "\n\(report.unknownTokens) of them because the device token is unknown there; if another emulator made the token, map it: "
        + "--map-token OLD=NEW, or --map FILE"
    }
    return text
  }
}
