import Advice
import Basics
import Console

/// Advice as a test wants it.
final class FakeAdvice: AdviceBoard {
  var list: [Finding] = []
  var pushes: UInt64 = 0
  private(set) var clearings = 0
  /// Found when nothing more comes.
  var late: [Finding] = []

  func findings() -> [Finding] { list }

  func nothingMoreComes() { (list, late) = (list + late, []) }

  func clear() {
    (list, pushes) = ([], 0)
    clearings += 1
  }
}

extension Finding {
  /// One with all that a finding may have.
  static func made(
    _ rule: AdviceRule = .lostAfterError, _ severity: Severity = .error, topic: String = ConsoleLab.app,
    peer: String = "192.0.2.1"
  ) -> Finding {
    Finding(
      rule: rule, severity: severity,
      provider: Provider(interface: .gateway, credential: "certificate of \(topic)", peer: peer),
      connections: 2,
      count: 87, first: Timestamp(seconds: 1_700_000_000), last: Timestamp(seconds: 1_700_000_060),
      examples: [17, 18, 19], sentence: "What was seen.", remedy: "What to do.",
      underFaults: [(fault: "half", count: 3)])
  }
}
