import Basics
import Commands
import Testing
import Transport

@Suite("A running emulator")
struct RunningEmulatorTests {
  @Test("says its environment")
  func environment() throws {
    let info: JSONValue = ["environment": "production", "listeners": [:]]
    #expect(try RunningEmulator.environment(in: info) == "production")
  }

  @Test(
    "is not taken for one of the sandbox where something else answers",
    arguments: [
      #"{"listeners":{}}"#, #"{"environment":1,"listeners":{}}"#, #"{"environment":"sandbox"}"#,
      #"{"environment":"sandbox","listeners":[]}"#, "[]",
    ])
  func somethingElse(answer: String) throws {
    let info = try #require(JSONReader.read(Array(answer.utf8)))
    let failure = #expect(throws: CommandFailure.self) { try RunningEmulator.environment(in: info) }
    #expect(
      failure?.message.hasSuffix("expected a document with environment and listeners, got \(answer)") == true)
  }

  @Test("that refuses a TLS connection has not accepted what was sent")
  func refusal() throws {
    let refusal = try #require(TLSRefusal("TLS: tlsv1 alert unknown ca"))
    #expect(
      refusal.json([("interface", "gateway")]).text
        == #"{"interface":"gateway","accepted":false,"explanation":"the service refused the TLS connection with the alert \"unknown ca\""}"#
    )
  }
}
