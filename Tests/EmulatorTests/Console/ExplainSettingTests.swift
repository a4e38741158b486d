import TestSupport
import Testing

import Emulator

extension LiveTests {
  @Suite("POST /api/v1/explain of an emulator that was started with --strict-push-type")
  struct ExplainSettingTests {
    private static let silent = #""payload":"{\"aps\":{\"content-available\":1}}""#

    @Test(
      "goes by how the emulator was started, unless the request says otherwise",
      arguments: [
        (false, "", "silent-untyped"), (true, "", "silent-type"),
        (false, #","strictPushType":true"#, "silent-type"),
        (true, #","strictPushType":false"#, "silent-untyped"),
      ])
    func setting(isStrict: Bool, said: String, rule: String) throws {
      let harness = try EmulatorHarness {
        $0.listeners.console = .number(0)
        $0.isPushTypeStrict = isStrict
      }
      let answer = try harness.ask("POST", "/api/v1/explain", "{\(Self.silent)\(said)}")
      #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains("\"rule\":\"\(rule)\""), "\(answer)")
    }
  }
}
