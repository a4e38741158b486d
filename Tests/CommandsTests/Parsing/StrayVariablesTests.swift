import Testing

import Commands

@Suite("Variables that nobody reads")
struct StrayVariablesTests {
  private static func warnings(_ names: String...) -> [String] {
    let environment = Dictionary(names.map { ($0, "value-of-nobody") }, uniquingKeysWith: { $1 })
    return StrayVariables.warnings(environment, CommandTable.commands)
  }

  @Test("a slip of the keyboard is told with the nearest name, and without the value")
  func misspelt() {
    #expect(
      Self.warnings("APNS_EMULATOR_GATWAY_PORT", "APNS_EMULATOR_DATTA", "HOME", "APNS_EMULATION") == [
        "the unknown variable APNS_EMULATOR_DATTA is ignored; did you mean APNS_EMULATOR_DATA?",
        "the unknown variable APNS_EMULATOR_GATWAY_PORT is ignored; did you mean APNS_EMULATOR_GATEWAY_PORT?",
      ])
  }

  @Test("what is near to nothing has no suggestion")
  func elephant() {
    #expect(
      Self.warnings("APNS_EMULATOR_ELEPHANT") == ["the unknown variable APNS_EMULATOR_ELEPHANT is ignored"])
  }

  @Test("every setting, what exec tells its command, and what our tests use are known")
  func known() {
    let settings = CommandTable.commands.flatMap(\.flags).filter(\.isSetting).map(\.environmentName)
    #expect(settings.contains("APNS_EMULATOR_LENIENT"))
    let told = [
      "GATEWAY", "FEEDBACK", "PROVIDER", "COURIER", "CONSOLE", "CA", "CERTS", "PORTS_FILE", "ACCESS",
      "CONFIG",
      "BINARY", "FUZZ", "FUZZ_TARGET", "FUZZ_CERTS",
    ]
    for name in settings + told.map({ "APNS_EMULATOR_" + $0 }) {
      #expect(Self.warnings(name) == [], "\(name)")
    }
  }
}
