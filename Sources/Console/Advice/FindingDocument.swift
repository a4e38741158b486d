import Advice
import Basics
import PushModel

extension AdviceRule: JSONWord {}

extension Severity: JSONWord {}

/// A finding as API, events, commands and libraries show it.
extension Finding: JSONAnswer {
  public static let shape = JSONShape<Finding>([
    "id": .show("lost-after-error") { $0.rule }, "severity": .show("error") { $0.severity },
    "provider": .show(as: Provider.shape) { $0.provider },
    "connections": .show(1, words: "Connections that did it") { $0.connections },
    "count": .show(87, words: "How often") { $0.count }, "first": .show { $0.first },
    "last": .show { $0.last },
    "notifications": .show([17, 18, 19], words: "Ids of the first, as examples") { $0.examples },
    "sentence": .show("87 frames behind a rejected one were not sent again.") { $0.sentence },
    "remedy": .show("Send again all that came behind the rejected frame.") { $0.remedy },
    "evidence": .show(as: AdviceRule.evidence) { $0.rule },
    "faults": .list(of: underFault) { $0.underFaults },
  ]).named("Finding")

  private static let underFault = JSONShape<(fault: String, count: UInt64)>([
    "name": .show("half") { $0.fault }, "count": .show(3) { $0.count },
  ])
}

extension Finding.Provider {
  fileprivate static let shape = JSONShape<Finding.Provider>([
    "interface": .show("gateway") { $0.interface },
    "credential": .show("certificate of com.example.app") { $0.credential },
    "peer": .show("127.0.0.1") { $0.peer },
  ])
}

extension AdviceRule {
  /// Where the page explains it.
  fileprivate static let evidence = JSONShape<AdviceRule>([
    "page": .show(.string(page)) { _ in page }, "heading": .show("lost-after-error") { $0.rawValue },
  ])
}
