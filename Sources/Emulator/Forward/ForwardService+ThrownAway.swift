import Broker
import Platform
import PushModel

/// What follows a rejected notification on its connection.
extension ForwardService {
  /// A notification on the connection was rejected. Those behind it that wait are thrown away, as the gateway does
  /// (`Documentation/binary-protocol.md#error-packet`); those that are under way or were accepted can't be called back,
  /// so that they are known when the provider sends them again.
  func throwAway(of connection: Int) {
    for push in queue.removeWaiting(where: { $0.connection == connection }) { drop(push) }
    let now = SystemClock.monotonicNanoseconds()
    for push in queue.underWayPushes where push.connection == connection {
      queue.update(push.id) { $0.isThrownAway = true }
      thrownAway.remember(push, isAccepted: false, now: now)
    }
  }

  /// Tells its provider's connection that one was accepted; should that take it for thrown away, it is known when it comes
  /// again.
  func settleAccepted(_ push: ForwardPush) {
    waiters.settle(PushTicket(push), SubmissionResult(id: push.record)) { [unowned self] in
      thrownAway.remember(push, isAccepted: true, now: SystemClock.monotonicNanoseconds())
    }
  }

  func settleAccepted() {
    let pushes = acceptedBefore
    acceptedBefore = []
    for push in pushes { settleAccepted(push) }
  }

  /// The answer to one that its provider will send again, or has no interest in.
  func noteThrownAway(_ push: ForwardPush, isAccepted: Bool) {
    thrownAway.forget(push.id)
    guard isAccepted else { return }
    thrownAway.remember(push, isAccepted: true, now: SystemClock.monotonicNanoseconds())
  }

  /// One that would have to be tried again, while its provider takes it for thrown away: so it is.
  func isOfNoUse(_ push: ForwardPush) -> Bool {
    guard push.isThrownAway else { return false }
    _ = queue.settle(push.id)
    thrownAway.forget(push.id)
    drop(push)
    return true
  }

  /// The provider sends again what is still on its way: the answer will be for its new place.
  func takeOver(_ id: UInt64, by push: ForwardPush) {
    guard let old = queue[id] else { return _ = queue.add(push) }
    finish(old, .discarded, "the provider sent it again, as \(push.record)")
    broker.pendingForwards.remove(push.kept)
    broker.noteForwarded(push.record, now: clock.now())
    queue.update(id) {
      ($0.record, $0.connection, $0.sequence) = (push.record, push.connection, push.sequence)
      $0.isThrownAway = false
    }
  }

  /// The provider sends again what the other service has accepted; and once more, if there is an error before it again.
  func acceptAgain(_ push: ForwardPush, as id: UInt64) {
    finish(push, .delivered, "forwarded to \(target) already, as \(id)")
    ended(push)
    acceptedBefore.append(push)
  }

  private func drop(_ push: ForwardPush) {
    counters.dropped += 1
    finish(push, .discarded, "not forwarded: an earlier one on the connection was rejected")
    if let waiter = waiters[push.connection] {
      waiter.forget(kept: [push.kept])
    } else {
      ended(push)
    }
  }
}

extension PushTicket {
  init(_ push: ForwardPush) { self.init(waiter: push.connection, sequence: push.sequence) }
}
