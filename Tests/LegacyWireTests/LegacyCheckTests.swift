import LegacyWire
import PushModel
import Testing

@Suite("Legacy checks")
struct LegacyCheckTests {
  /// The rejection and the error packet that a frame gets before the broker is asked.
  private func answer(_ frame: [UInt8], _ limits: LegacyLimits = LegacyLimits()) -> [UInt8]? {
    var decoder = LegacyDecoder()
    var packet: [UInt8]?
    _ = frame.withUnsafeBytes { bytes in
      decoder.receive(bytes) { notification in
        if let rejection = LegacyCheck.rejection(notification, limits) {
          let identifier = LegacyCheck.reportedIdentifier(notification, rejection, limits)
          packet = LegacyErrorPacket(status: rejection.legacyStatus, identifier: identifier).bytes
        }
        return .goOn
      }
    }
    return packet
  }

  @Test("answers the deliberately bad frames of the sheet")
  func sheet() {
    #expect(answer(Sheet.pushyFlush) == Sheet.bytes("080200000000"))
    #expect(answer(Sheet.javaProbe) == Sheet.bytes("080500000000"))
    #expect(answer(Sheet.withoutToken) == Sheet.bytes("08020000002a"))
    #expect(answer(Sheet.withoutPayload) == Sheet.bytes("08040000002a"))
    #expect(answer(Sheet.shortToken) == Sheet.bytes("08050000002a"))
    #expect(answer(Sheet.full) == nil)
  }

  @Test("echoes the identifier of an empty token when the operator wants that")
  func emptyTokenIdentifier() {
    var limits = LegacyLimits()
    limits.forgetsIdentifierOfEmptyToken = false
    #expect(answer(Sheet.pushyFlush, limits) == Sheet.bytes("08020000002a"))
  }

  @Test("takes payloads up to the limit and answers 7 above it")
  func payloadSize() {
    let fits = LegacyEncoder.frame(
      token: Sheet.token, payload: [UInt8](repeating: 0x20, count: 2048), identifier: 42)
    let tooLarge = LegacyEncoder.frame(
      token: Sheet.token, payload: [UInt8](repeating: 0x20, count: 2049), identifier: 42)
    #expect(answer(fits) == nil)
    #expect(answer(tooLarge) == Sheet.bytes("08070000002a"))
  }

  @Test("lets the operator set the token lengths")
  func tokenLengths() {
    var limits = LegacyLimits()
    let long = LegacyEncoder.frame(
      token: [UInt8](repeating: 1, count: 100), payload: Sheet.payload, identifier: 42)
    #expect(answer(long, limits) == nil)
    limits.tokenLengths = 32...32
    #expect(answer(long, limits) == Sheet.bytes("08050000002a"))
    limits.tokenLengths = 1...100
    #expect(answer(Sheet.shortToken, limits) == nil)
  }

  @Test("checks token before payload, and missing before size")
  func order() {
    let everythingWrong = LegacyEncoder.frame(token: nil, payload: nil, identifier: 42)
    #expect(answer(everythingWrong) == Sheet.bytes("08020000002a"))
    let shortTokenNoPayload = LegacyEncoder.frame(token: [1], payload: [], identifier: 42)
    #expect(answer(shortTokenNoPayload) == Sheet.bytes("08050000002a"))
  }
}
