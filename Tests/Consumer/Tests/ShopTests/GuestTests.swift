import APNSEmulatorTesting
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What a program may expect of emulators that are its guests. A process of its own is needed to see it.
@Suite(.serialized) struct GuestTests {
  @Test(.timeLimit(.minutes(15))) func tenEmulatorsLeaveEverySignalAlone() async throws {
    let before = handlers()
    let emulators = try await withThrowingTaskGroup(of: APNSEmulator.self) { group in
      for _ in 0..<10 { group.addTask { try await APNSEmulator.start(Self.recordTraffic) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, emulator) in emulators.enumerated() {
        group.addTask { try await talk(to: emulator, of: "\(number)") }
      }
      try await group.waitForAll()
    }
    #expect(handlers() == before)
    for emulator in emulators { await emulator.stop() }
    #expect(handlers() == before)
  }

  /// Whatever may be switched on is, beside the emulator's other files.
  private static func recordTraffic(_ options: inout EmulatorOptions) {
    options.capture = .init(path: options.certs + ".capture")
  }

  private func talk(to emulator: APNSEmulator, of subject: String) async throws {
    let phone = try await emulator.phone(apps: "com.example.shop")
    let token = try await phone.token(for: "com.example.shop")
    try await emulator.send(subject, to: token, topic: "com.example.shop")
    #expect(try await phone.nextMessage(within: .seconds(60)).text == subject)
    #expect(try await emulator.pushes().map(\.text) == [subject])
  }

  /// What the process does at each signal.
  private func handlers() -> [Int] {
    (1...31).map { number in
      var action = sigaction()
      sigaction(Int32(number), nil, &action)
      return withUnsafeBytes(of: action) { $0.load(as: Int.self) }
    }
  }
}
