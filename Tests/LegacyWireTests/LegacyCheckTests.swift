import Basics
import LegacyWire
import Testing

@Suite("Legacy checks")
struct LegacyCheckTests {
  /// The rejection and the error packet that a frame gets before the broker is asked.
  private func answer(_ frame: [UInt8], _ limits: LegacyLimits = LegacyLimits()) -> [UInt8]? {
    var decoder = LegacyDecoder()
    var packet: [UInt8]?
    _ = decoder.receive(frame.span) { notification in
      if let rejection = LegacyCheck.rejection(notification, limits) {
        let identifier = LegacyCheck.reportedIdentifier(notification, rejection, limits)
        packet = LegacyErrorPacket(status: rejection.legacyStatus, identifier: identifier).bytes
      }
      return .goOn
    }
    return packet
  }

  @Test("answers the deliberately bad frames of the documentation")
  func badFrames() {
    #expect(answer(Example.pushyFlush) == Example.bytes("080200000000"))
    #expect(answer(Example.javaProbe) == Example.bytes("080500000000"))
    #expect(answer(Example.withoutToken) == Example.bytes("08020000002a"))
    #expect(answer(Example.withoutPayload) == Example.bytes("08040000002a"))
    #expect(answer(Example.shortToken) == Example.bytes("08050000002a"))
    #expect(answer(Example.full) == nil)
  }

  @Test("echoes the identifier of an empty token when the operator wants that")
  func emptyTokenIdentifier() {
    var limits = LegacyLimits()
    limits.forgetsIdentifierOfEmptyToken = false
    #expect(answer(Example.pushyFlush, limits) == Example.bytes("08020000002a"))
  }

  @Test("takes payloads up to the limit and answers 7 above it")
  func payloadSize() {
    let fits = LegacyEncoder.frame(
      token: Example.token, payload: [UInt8](repeating: 0x20, count: 2048), identifier: 42)
    let tooLarge = LegacyEncoder.frame(
      token: Example.token, payload: [UInt8](repeating: 0x20, count: 2049), identifier: 42)
    #expect(answer(fits) == nil)
    #expect(answer(tooLarge) == Example.bytes("08070000002a"))
  }

  @Test("lets the operator set the token lengths")
  func tokenLengths() {
    var limits = LegacyLimits()
    let long = LegacyEncoder.frame(
      token: [UInt8](repeating: 1, count: 100), payload: Example.payload, identifier: 42)
    #expect(answer(long, limits) == nil)
    limits.tokenLengths = 32...32
    #expect(answer(long, limits) == Example.bytes("08050000002a"))
    limits.tokenLengths = 1...100
    #expect(answer(Example.shortToken, limits) == nil)
  }

  @Test("checks token before payload, and missing before size")
  func order() {
    let everythingWrong = LegacyEncoder.frame(token: nil, payload: nil, identifier: 42)
    #expect(answer(everythingWrong) == Example.bytes("08020000002a"))
    let shortTokenNoPayload = LegacyEncoder.frame(token: [1], payload: [], identifier: 42)
    #expect(answer(shortTokenNoPayload) == Example.bytes("08050000002a"))
  }
}
