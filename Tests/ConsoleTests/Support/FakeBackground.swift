import Console

/// A thread that works when the test wants it.
final class FakeBackground: BesideLoop {
  private var jobs: [() -> Void] = []
  var count: Int { jobs.count }
  var isFull = false

  func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void) -> Bool
  {
    guard !isFull else { return false }
    jobs.append { then(work()) }
    return true
  }

  func finishFirst() { if !jobs.isEmpty { jobs.removeFirst()() } }
}
