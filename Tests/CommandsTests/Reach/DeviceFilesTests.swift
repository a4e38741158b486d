import Commands
import PushModel
import SimulatedDevice
import TestSupport
import Testing

@Suite("Files of a simulated device")
struct DeviceFilesTests {
  private let folder = ScratchFolder()
  private let udid = UDID("phone-1")
  private let topic = Topic("com.example.app")

  /// Files in a folder of the test's own, removed afterwards.
  private func withFiles(_ body: (DeviceFiles) throws -> Void) throws {
    try body(DeviceFiles(folder: folder.file("devices"), udid: try #require(udid)))
  }

  @Test("a new device has no identity and an empty state")
  func nothing() throws {
    try withFiles { files in
      #expect(files.identity() == nil)
      let state = try files.state()
      #expect(state == DeviceState(udid: files.udid))
    }
  }

  @Test("the state of the last run comes back")
  func state() throws {
    try withFiles { files in
      try files.keep(certificatePEM: [], keyPEM: [])
      let app = HeldToken(
        TokenNeed(try #require(topic)), token: DeviceToken(hex: String(repeating: "ab", count: 32)))
      let state = DeviceState(udid: files.udid, baseToken: nil, apps: [app])
      try files.keep(state)
      #expect(try files.state() == state)
    }
  }

  @Test("the key is for this user alone, and so is the folder")
  func modes() throws {
    try withFiles { files in
      try files.keep(certificatePEM: Array("certificate".utf8), keyPEM: Array("key".utf8))
      #expect(folder.mode(of: "devices/phone-1.key") == 0o600)
      #expect(folder.mode(of: "devices") == 0o700)
    }
  }

  @Test("a state that can't be read says which file, and what to do")
  func unreadable() throws {
    try withFiles { files in
      try files.keep(certificatePEM: [], keyPEM: [])
      try folder.write("nonsense", to: "devices/phone-1.json")
      let failure = #expect(throws: CommandFailure.self) { try files.state() }
      #expect(failure?.message.contains("phone-1.json") == true)
      #expect(failure?.message.hasSuffix("remove the file to start again") == true)
    }
  }

  @Test("a damaged key is no identity, so that the device activates again")
  func damaged() throws {
    try withFiles { files in
      try files.keep(certificatePEM: Array("certificate".utf8), keyPEM: Array("key".utf8))
      #expect(files.identity() == nil)
    }
  }
}
