import LegacyWire
import PushModel
import SimulatedProvider
import Testing

/// What comes back is that of `Documentation/binary-protocol.md#error-packet`.
@Suite("Outcomes of a legacy push")
struct LegacyOutcomeTests {
  @Test("silence is success")
  func silence() {
    let outcome = LegacyOutcome(received: [], isClosed: false)
    #expect(outcome == .silence)
    #expect(outcome.isAccepted)
    #expect(outcome.json(command: .frame).text == #"{"interface":"gateway","command":2,"accepted":true}"#)
  }

  @Test("six bytes are an error packet", arguments: [true, false])
  func packet(isClosed: Bool) {
    let outcome = LegacyOutcome(received: [0x08, 0x08, 0, 0, 0, 0x2a], isClosed: isClosed)
    #expect(outcome == .error(LegacyErrorPacket(status: 8, identifier: 42)))
    #expect(!outcome.isAccepted)
    let text = outcome.json(command: .enhanced).text
    #expect(
      text.hasPrefix(#"{"interface":"gateway","command":1,"accepted":false,"status":8,"identifier":42,"#))
  }

  @Test(
    "every status of the documentation is explained",
    arguments: [1, 2, 3, 4, 5, 6, 7, 8, 10, 128, 255] as [UInt8])
  func explanation(status: UInt8) {
    let outcome = LegacyOutcome(received: [0x08, status, 0, 0, 0, 0x2a], isClosed: true)
    #expect(!outcome.json(command: .frame).text.contains(#""explanation":null"#))
  }

  @Test("status 1, which several reasons share, is a processing error")
  func processingError() {
    let outcome = LegacyOutcome(received: [0x08, 1, 0, 0, 0, 0x2a], isClosed: true)
    #expect(outcome.json(command: .frame).text.contains(Rejection.internalServerError.sentence))
  }

  @Test("a status that nobody knows is told all the same")
  func unknownStatus() {
    let outcome = LegacyOutcome(received: [0x08, 99, 0xff, 0xff, 0xff, 0xff], isClosed: true)
    #expect(outcome == .error(LegacyErrorPacket(status: 99, identifier: .max)))
    #expect(
      outcome.json(command: .frame).text.contains(#""status":99,"identifier":4294967295,"explanation":null"#))
  }

  @Test(
    "an end without a packet is no success", arguments: [[], [0x08], [0x08, 0x08, 0, 0, 0]] as [[UInt8]])
  func closed(received: [UInt8]) {
    let outcome = LegacyOutcome(received: received, isClosed: true)
    #expect(outcome == .closed)
    #expect(!outcome.isAccepted)
    #expect(outcome.json(command: .simple).text.contains("closed without an error packet"))
  }
}
