#if canImport(Testing)
  import Testing

  /// Gives a test an emulator of its own, or each test of a suite: started before it, stopped after it, however it ends.
  ///
  /// ```swift
  /// @Test(.apnsEmulator) func orderIsTold() async throws {
  ///   let emulator = APNSEmulator.current
  ///   let token = try await emulator.install("com.example.app", on: "phone-1")
  ///   try await Shop(pushingTo: emulator.provider).ship(order: 17, to: token)
  ///   #expect(try await emulator.waitForPush().text.contains("17"))
  /// }
  /// ```
  public struct APNSEmulatorTrait: TestTrait, SuiteTrait, TestScoping {
    let configure: @Sendable (inout EmulatorOptions) -> Void

    /// On a suite, each of its tests has an emulator.
    public var isRecursive: Bool { true }

    /// Starts the emulator, runs the test with it as `APNSEmulator.current`, and stops it.
    public func provideScope(
      for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
      let emulator = try await APNSEmulator.start(configure)
      let outcome: Result<Void, any Error>
      do {
        outcome = .success(try await APNSEmulator.$bound.withValue(emulator) { try await function() })
      } catch {
        outcome = .failure(error)
      }
      await emulator.stop()
      try outcome.get()
    }
  }

  extension Trait where Self == APNSEmulatorTrait {
    /// An emulator for each test.
    ///
    /// ```swift
    /// @Suite(.apnsEmulator) struct ShopTests { … }
    /// ```
    public static var apnsEmulator: Self { APNSEmulatorTrait { _ in } }

    /// The same, with other options than the defaults.
    ///
    /// ```swift
    /// @Test(.apnsEmulator { $0.environment = .production }) func production() async throws { … }
    /// ```
    public static func apnsEmulator(_ configure: @escaping @Sendable (inout EmulatorOptions) -> Void) -> Self
    {
      APNSEmulatorTrait(configure: configure)
    }
  }

  extension APNSEmulator {
    @TaskLocal static var bound: APNSEmulator?

    /// The emulator of the test that runs. Only under the trait `.apnsEmulator`: elsewhere it ends the process, saying so.
    ///
    /// ```swift
    /// let emulator = APNSEmulator.current
    /// ```
    public static var current: APNSEmulator {
      guard let bound else {
        preconditionFailure(
          "APNSEmulator.current needs the trait .apnsEmulator: write @Test(.apnsEmulator)")
      }
      return bound
    }
  }
#endif
