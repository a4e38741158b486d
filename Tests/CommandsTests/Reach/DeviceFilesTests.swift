import Foundation
import PushModel
import SimulatedDevice
import Testing

@testable import Commands

@Suite("Files of a simulated device")
struct DeviceFilesTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "devices-\(UUID())")
  private let udid = UDID("phone-1")
  private let topic = Topic("com.example.app")

  /// Files in a folder of the test's own, removed afterwards.
  private func withFiles(_ body: (DeviceFiles) throws -> Void) throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let udid = try #require(udid)
    try body(DeviceFiles(folder: folder.path(), udid: udid))
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
      let app = DeviceState.App(
        topic: try #require(topic), token: DeviceToken(hex: String(repeating: "ab", count: 32)))
      let state = DeviceState(udid: files.udid, baseToken: nil, apps: [app])
      try files.keep(state)
      #expect(try files.state() == state)
    }
  }

  @Test("the key is for this user alone, and so is the folder")
  func modes() throws {
    try withFiles { files in
      try files.keep(certificatePEM: Array("certificate".utf8), keyPEM: Array("key".utf8))
      func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
      }
      #expect(try mode("\(files.folder)/phone-1.key") == 0o600)
      #expect(try mode(files.folder) == 0o700)
    }
  }

  @Test("a state that can't be read says which file, and what to do")
  func unreadable() throws {
    try withFiles { files in
      try files.keep(certificatePEM: [], keyPEM: [])
      try Data("nonsense".utf8).write(to: folder.appending(path: "phone-1.json"))
      let failure = #expect(throws: CommandFailure.self) { try files.state() }
      #expect(failure?.message.contains("phone-1.json") == true)
      #expect(failure?.message.hasSuffix("remove it to begin anew") == true)
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
