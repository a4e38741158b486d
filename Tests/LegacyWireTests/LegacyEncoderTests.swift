import LegacyWire
import PushModel
import Testing

@Suite("Legacy encoding")
struct LegacyEncoderTests {
  @Test("builds the frames of the documentation")
  func frames() {
    #expect(LegacyEncoder.simple(token: Example.token, payload: Example.payload) == Example.simple)
    #expect(
      LegacyEncoder.enhanced(
        identifier: 42, expiration: 1_700_000_000, token: Example.token, payload: Example.payload)
        == Example.enhanced)
    #expect(LegacyEncoder.frame(token: Example.token, payload: Example.payload) == Example.minimal)
    #expect(
      LegacyEncoder.frame(
        token: Example.token, payload: Example.payload, identifier: 42, expiration: 1_700_000_000,
        priority: 10)
        == Example.full)
  }

  @Test("builds and reads the error packet")
  func errorPacket() {
    #expect(LegacyErrorPacket(status: 8, identifier: 42).bytes == Example.bytes("08080000002a"))
    #expect(LegacyErrorPacket(status: 10, identifier: 2).bytes == Example.bytes("080a00000002"))
    #expect(
      LegacyErrorPacket(bytes: Example.bytes("08800000002a"))
        == LegacyErrorPacket(status: 128, identifier: 42))
    #expect(LegacyErrorPacket(bytes: Example.bytes("0880000000")) == nil)
    #expect(LegacyErrorPacket(bytes: Example.bytes("07800000002a")) == nil)
  }

  @Test("every status byte of the documentation belongs to a rejection")
  func statuses() {
    let table = Set(Rejection.allCases.map(\.legacyStatus))
    #expect(table == [1, 2, 3, 4, 5, 6, 7, 8, 10, 128, 255])
  }

  @Test("feedback tuples are those of the documentation, and are read in any segmentation")
  func feedback() {
    let tuple = FeedbackTuple(timestamp: 1_700_000_000, token: Example.token)
    #expect(tuple.bytes == Example.bytes("6553f100 0020 \(Example.T)"))
    let stream = tuple.bytes + tuple.bytes
    for cut in 0...stream.count {
      var held = Array(stream[..<cut])
      var heard = FeedbackTuple.take(from: &held)
      held += stream[cut...]
      heard += FeedbackTuple.take(from: &held)
      #expect(heard == [tuple, tuple])
      #expect(held.isEmpty)
    }
  }

  @Test("a feedback tuple without a token is one, and ends where the next begins")
  func emptyToken() {
    var bytes = Example.bytes("6553f100 0000")
    #expect(FeedbackTuple.take(from: &bytes) == [FeedbackTuple(timestamp: 1_700_000_000, token: [])])
    #expect(bytes.isEmpty)
  }
}
