import PushModel
import Testing

@Suite struct RejectionLegacyStatusTests {
  @Test(
    "Each documented status byte is a rejection that has it",
    arguments: [1, 2, 3, 4, 5, 6, 7, 8, 10, 128, 255])
  func documented(status: UInt8) { #expect(Rejection(legacyStatus: status).legacyStatus == status) }

  @Test("Other status bytes are an unknown error", arguments: [0, 9, 11, 42, 127, 129, 254])
  func undocumented(status: UInt8) { #expect(Rejection(legacyStatus: status) == .unknownError) }
}
