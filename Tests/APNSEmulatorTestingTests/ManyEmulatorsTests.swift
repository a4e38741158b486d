import APNSEmulatorTesting
import Foundation
import Platform
import Testing

@Suite("Many emulators in one process")
struct ManyEmulatorsTests {
  @Test("ten live side by side, each with its own pushes", .timeLimit(.minutes(15)))
  func ten() async throws {
    let emulators = try await withThrowingTaskGroup(of: APNSEmulator.self) { group in
      for _ in 0..<10 { group.addTask { try await APNSEmulator.start() } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(emulators.map(\.provider)).count == 10)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, emulator) in emulators.enumerated() {
        group.addTask { try await converse(with: emulator, number) }
      }
      try await group.waitForAll()
    }
    await withTaskGroup(of: Void.self) { group in
      for emulator in emulators { group.addTask { await emulator.stop() } }
    }
    #expect(emulators.allSatisfy { access($0.certsPath, F_OK) != 0 })
  }

  private func converse(with emulator: APNSEmulator, _ number: Int) async throws {
    let phone = try await emulator.phone(apps: app)
    let provider = try PlainProvider(emulator)
    for round in 0..<3 {
      let answer = try await provider.push(alert("\(number).\(round)"), to: phone.token(for: app))
      #expect(answer == (200, ""))
    }
    for round in 0..<3 {
      #expect(try await phone.nextMessage(within: .seconds(60)).text == alert("\(number).\(round)"))
    }
    let pushes = try await emulator.waitForPushes(3, within: .seconds(60)) { $0.state == .delivered }
    #expect(pushes.map(\.text) == (0..<3).map { alert("\(number).\($0)") })
    #expect(try await emulator.pushes().count == 3)
  }
}
