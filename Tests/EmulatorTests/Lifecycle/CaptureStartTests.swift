import Basics
import Bridge
import Foundation
import Hooks
import Platform
import Recorder
import Services
import TestSupport
import Testing

import Emulator

extension LiveTests {
  @Suite("The capture of a start that is refused")
  struct CaptureStartTests {
    private let folder = ScratchFolder()

    /// What can't be started with.
    enum Fault: CaseIterable { case forwardKey, forwardCA, seedData, dashboard }

    private func start(_ fault: Fault, capture: String) throws {
      _ = try EmulatorHarness {
        $0.capture = CaptureOptions(path: capture)
        var forward = ForwardOptions(target: SocketAddress(host: "127.0.0.1", port: 1))
        (forward.key, forward.team) = ($0.credentials.certs + "/keys/AuthKey_\(Site.teamKey).p8", Site.team)
        switch fault {
        case .forwardKey:
          forward.key = folder.file("AuthKey_NOTTHERE01.p8")
          $0.forward = forward
        case .forwardCA:
          forward.ca = folder.file("none.pem")
          $0.forward = forward
        case .seedData: $0.files.seedData = folder.file("none.json")
        case .dashboard: $0.console.dashboard = folder.file("none")
        }
      }
    }

    @Test("makes no file, and changes none that is there", arguments: Fault.allCases)
    func nothing(_ fault: Fault) throws {
      let path = folder.file("capture.jsonl")
      #expect(throws: EmulatorError.self) { try start(fault, capture: path) }
      #expect(!FileManager.default.fileExists(atPath: path))
      // A torn line, which a start would cut off.
      try "torn".write(toFile: path, atomically: true, encoding: .utf8)
      #expect(throws: EmulatorError.self) { try start(fault, capture: path) }
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "torn")
    }
  }
}
