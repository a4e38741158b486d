import Basics
import Broker
import Faults
import LegacyWire
import Platform
import PushModel
import Services

extension FaultEngine.Decision {
  /// Why a push was refused that the checks need not have refused.
  var words: Explanation {
    isMagic
      ? Explanation(rule: "magic token", expected: "a token that was issued", got: Phrase(name))
      : Explanation(
        rule: "fault rule \(name)", expected: "no match",
        got: Phrase("a match, which injects \(effects.document.text)"))
  }

  /// As the history has it.
  func injected(isAnswered: Bool) -> InjectedFault {
    InjectedFault(name: name, effect: effects.document, isAnswered: isAnswered)
  }
}

/// Frames as faults see them.
extension FaultService {
  /// The fault to inject into a frame for `topic`, if any; `connection` is where it came from.
  func decide(
    _ notification: LegacyNotification, topic: @autoclosure () -> String?,
    connection: @autoclosure () -> SocketAddress?
  ) -> FaultEngine.Decision? {
    var point = FaultPoint(.push, at: .gateway)
    point.token = Array(notification.token.orNone)
    (point.topic, point.priority, point.connection) = (
      topic(), notification.priority, connection()?.description
    )
    return decide(point)
  }
}

extension Journal {
  /// Remembers which fault kept the answer back to a push that was taken.
  func note(_ fault: InjectedFault, into id: UInt64) {
    let known = detail(id)
    attach(
      NotificationDetail(explanation: known?.explanation, upstream: known?.upstream, fault: fault), to: id)
  }
}

extension NotificationDetail {
  /// Why a push was refused or swallowed that a fault was injected into.
  convenience init(_ decision: FaultEngine.Decision, isAnswered: Bool) {
    self.init(decision.words, fault: decision.injected(isAnswered: isAnswered))
  }
}
