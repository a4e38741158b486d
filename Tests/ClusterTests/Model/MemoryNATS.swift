import Basics
import NATSWire

/// The logs of all zones, in memory: an append behind an expected sequence, and reading. It loses an answer at times.
final class MemoryNATS {
  static let stream = "2026-01-02T03:04:05Z"

  private var logs: [[[UInt8]]]
  private var choices: SeededChoices
  /// Answers that were lost, as a count.
  private(set) var lostCount = 0

  init(zones: Int, seed: UInt64) {
    logs = [[[UInt8]]](repeating: [], count: zones)
    choices = SeededChoices(seed: seed, name: "engine")
  }

  func append(_ record: [UInt8], to zone: Int, behind: UInt64) -> Result<UInt64, JetStreamFailure> {
    guard logs[zone].count == behind else { return .failure(.wrongLastSequence(UInt64(logs[zone].count))) }
    // Before or behind the append: nobody can tell.
    if choices.unit() < 0.01 { return lose() }
    logs[zone].append(record)
    if choices.unit() < 0.01 { return lose() }
    return .success(UInt64(logs[zone].count))
  }

  private func lose() -> Result<UInt64, JetStreamFailure> {
    lostCount += 1
    return .failure(.late)
  }

  func record(_ sequence: UInt64, of zone: Int) -> Result<JetStreamRecord, JetStreamFailure> {
    guard sequence >= 1, sequence <= logs[zone].count else {
      return .failure(.refused(code: JetStreamFailure.messageNotFoundCode, words: "no message found"))
    }
    return .success(JetStreamRecord(sequence: sequence, payload: logs[zone][Int(sequence) - 1]))
  }
}
