import Testing

import APNSEmulatorTesting

@Suite("Waiting for what is stored", .timeLimit(.minutes(15)))
struct WaitsTests {
  /// Longer than other tests may keep these from going on.
  private let timeout = Duration.seconds(600)

  private func start() async throws -> (APNSEmulator, String) {
    let emulator = try await APNSEmulator.start { $0.isEphemeral = false }
    let token = try await emulator.install(app, on: "phone-1")
    try await emulator.makeCommitsLate()
    return (emulator, token)
  }

  @Test("who sends a push or waits for one hears of it when it is in the store")
  func late() async throws {
    let (emulator, token) = try await start()
    let waiting = Task { try await emulator.waitForPush(within: timeout) }
    try await emulator.until { $0.waiting == 1 }
    let sending = Task { try await emulator.send(alert("one"), to: token, topic: app, within: timeout) }
    try await emulator.until { $0.isCommitting }
    // Each of these has a turn of its own.
    for _ in 1...5 { #expect(await emulator.waiting == 2) }
    await emulator.endCommit()
    #expect(try await sending.value.text == alert("one"))
    #expect(try await waiting.value.text == alert("one"))
    await emulator.stop()
  }

  @Test("nobody hears of a push that could not be stored")
  func failed() async throws {
    let (emulator, token) = try await start()
    let sending = Task { try await emulator.send(alert("lost"), to: token, topic: app, within: timeout) }
    try await emulator.until { $0.isCommitting }
    await emulator.endCommit(.failure(LateStore.Refused()))
    let error = await #expect(throws: APNSEmulatorError.self) { try await sending.value }
    #expect(error?.code == .stopped)
    #expect(error?.description.contains("the store can't be written") == true)
  }
}
