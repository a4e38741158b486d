import Console

/// Remembers what was sent; what becomes of it and of credentials is the test's to say.
final class FakeTestPushes: TestPushing {
  private(set) var pushes: [TestPush] = []
  /// The credential that was looked at last.
  private(set) var credential: PushCredential?
  var outcome = Result<PushProof, any Error>.success(.token("x"))
  var isBusy = false
  private let act: (TestPush) -> UInt64?

  /// `act` answers the notification's id.
  init(act: @escaping (TestPush) -> UInt64?) { self.act = act }

  func send(_ push: TestPush, done: @escaping (UInt64?) -> Void) {
    pushes.append(push)
    done(act(push))
  }

  func prove(
    _ push: TestPush, _ credential: PushCredential, then: @escaping (Result<PushProof, any Error>) -> Void
  ) -> Bool {
    self.credential = credential
    if !isBusy { then(outcome) }
    return !isBusy
  }
}
