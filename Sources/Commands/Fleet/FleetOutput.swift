import Basics
import Platform
import SimulatedDevice

/// What a fleet says: one line that is drawn over again on a terminal, else a line now and then, and the figures at the end.
final class FleetOutput {
  /// How often the line on a terminal moves, and how often another one is written elsewhere, in nanoseconds.
  private static let redraw: Int64 = 200_000_000
  private static let interval: Int64 = 5_000_000_000

  private let isJSON: Bool
  private let tokensPath: String?
  private let hasTerminal: Bool
  private var lastLine = ""

  init(isJSON: Bool, tokensPath: String?) {
    (self.isJSON, self.tokensPath) = (isJSON, tokensPath)
    hasTerminal = !isJSON && StandardDescriptors.isTerminal(StandardDescriptors.error)
  }

  /// How long to wait between two `progress`, in nanoseconds.
  var progressInterval: Int64 { hasTerminal ? Self.redraw : Self.interval }

  /// Says nothing twice.
  func progress(_ tally: FleetTally, after nanoseconds: Int64) throws {
    let line = tally.line
    guard line != lastLine else { return }
    lastLine = line
    if hasTerminal { return Output.status("\r\u{1b}[K\(line)") }
    try tell(isJSON ? tally.json("progress", after: nanoseconds, latencySince: nil).text : line)
  }

  /// Every phone has its tokens.
  func ready(_ tally: FleetTally, _ phones: [FleetPhone], after nanoseconds: Int64) throws {
    try writeTokens(phones)
    try tell(
      isJSON
        ? tally.json("ready", after: nanoseconds, latencySince: nil).text
        : "ready: \(tally.ready) phones have their tokens after \(FleetTally.seconds(nanoseconds))"
          + (tokensPath.map { ", written to \($0)" } ?? ""))
  }

  func summary(_ tally: FleetTally, after nanoseconds: Int64, latencySince since: String?) throws {
    if isJSON { return try tell(tally.json("summary", after: nanoseconds, latencySince: since).text) }
    for line in tally.lines(after: nanoseconds, latencySince: since) { try tell(line) }
  }

  private func tell(_ line: String) throws {
    if hasTerminal { Output.status("\r\u{1b}[K") }
    try Output.line(line)
    lastLine = ""
  }

  private func writeTokens(_ phones: [FleetPhone]) throws {
    guard let tokensPath else { return }
    var bytes: [UInt8] = []
    for phone in phones {
      for (topic, token) in phone.firstTokens {
        bytes += "\(token.hex) \(topic.name) \(phone.device.state.udid.text)\n".utf8
      }
    }
    try TextFile.write(tokensPath, bytes)
  }
}
