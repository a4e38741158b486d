import Basics
import Broker

/// Where pushes go that have passed an interface's own checks, if not to this emulator's token map, which knows at once what becomes
/// of them: to somebody whose verdict may come later.
///
///     submit ─→ now: the verdict
///        ├────→ later: whoever waits hears of it by the ticket
///        └────→ busy: nothing was done; whoever waits is told when to submit it again
protocol PushSink: AnyObject {
  var window: PushWindow { get }

  /// Takes a push. Its bytes are lent for the call.
  func submit(_ push: PlainSubmission, detail: NotificationDetail?, for ticket: PushTicket, now: Timestamp)
    -> PushVerdict

  /// All that was at hand has been submitted.
  func flush()

  /// The provider hears of a rejection: it takes all that it sent behind that for discarded, whatever becomes of it.
  func discard(of waiter: Int)
}

extension PushSink {
  func flush() {}
  func discard(of waiter: Int) {}
}

/// A sink whose pushes outlive the process (`--forward`). A provider on the gateway takes what it sent for accepted, as it hears
/// nothing: so what was read is kept before it is submitted, too, and until its provider has heard that it was not taken.
///
///     read ─ keep ─→ kept ─ submitted with its ticket ─→ kept by the sink ─ a verdict ─→ gone
///                     ├──── forget: dealt with otherwise ──────────────────────────────↗
///                     └──── release: its provider is told to send it again ─ closed ───↗
protocol BridgeSink: PushSink {
  /// What providers are told to send again.
  var released: ReleasedPushes { get set }
  /// A frame was read and must wait before it is submitted. Answers the id under which it is kept.
  func keep(_ frame: [UInt8], of provider: GatewayProvider) -> Int64
  /// They need not be kept any more.
  func forget(_ kept: [Int64])
  /// Under which ids all that is kept which was submitted on the connection and has no verdict.
  func keptOfSubmitted(on number: Int) -> [Int64]
}

extension BridgeSink {
  /// From now on what is released on the connection waits for its end.
  func connectionOpened(_ number: Int) { released.open(number) }
  /// They need not be kept once the connection is closed: until then its provider may not have heard that it must send them again.
  func release(_ kept: [Int64], whenClosed number: Int) { forget(released.release(kept, on: number)) }
  /// The same of all that was submitted on the connection and has no verdict.
  func releaseSubmitted(whenClosed number: Int) {
    release(keptOfSubmitted(on: number), whenClosed: number)
  }
  /// Without having heard, its provider takes what was released for accepted: it stays kept.
  func connectionClosed(_ number: Int, hasHeard: Bool) {
    forget(released.close(number, hasHeard: hasHeard))
  }
}

/// What is kept although its provider is told to send it again, by connections that are open: it may not have heard yet.
package struct ReleasedPushes {
  private var ids: [Int: [Int64]] = [:]

  package init() {}

  /// On all connections.
  package var count: Int { ids.values.reduce(0) { $0 + $1.count } }

  package mutating func open(_ connection: Int) { ids[connection] = [] }

  /// Answers which need not be kept any more: none while the connection is open.
  package mutating func release(_ released: [Int64], on connection: Int) -> [Int64] {
    ids[connection]?.append(contentsOf: released) == nil ? released : []
  }

  /// Answers which need not be kept any more: what was released, if the provider has heard of it.
  package mutating func close(_ connection: Int, hasHeard: Bool) -> [Int64] {
    let released = ids.removeValue(forKey: connection) ?? []
    return hasHeard ? released : []
  }
}

/// Where broadcasts go.
protocol BroadcastSink: AnyObject {
  /// Sends a broadcast to everybody who listens to a channel, wherever they are.
  func broadcast(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, for ticket: PushTicket,
    now: Timestamp
  ) -> PushVerdict
}

/// Whose push it is, for the verdict that comes later.
struct PushTicket: Equatable {
  /// By `PushWaiters`; 0 for nobody.
  var waiter: Int
  /// Numbers the waiter's own pushes.
  var sequence: UInt64
  /// What a bridge keeps it under already; 0 for nothing.
  var kept: Int64 = 0
}

/// What a sink says of a push.
enum PushVerdict {
  case now(SubmissionResult)
  /// With the notification's id in the history.
  case later(UInt64)
  case busy
}

/// Has submitted pushes whose verdict comes later.
protocol PushWaiter: AnyObject {
  /// The verdict on one. `undo` is for one that was accepted while its provider hears otherwise: a rejection in front of it
  /// makes the provider take it for discarded.
  func settled(_ sequence: UInt64, _ result: SubmissionResult, undo: (() -> Void)?)
  /// What the sink was too busy for may be submitted again.
  func resume()
  /// No verdict comes any more: the emulator ends.
  func endWithoutVerdicts()
}

/// Who waits for verdicts, by number. It keeps them alive: what was sent goes on without the provider that sent it.
final class PushWaiters {
  private var count = 0
  private var waiters: [Int: any PushWaiter] = [:]

  var isEmpty: Bool { waiters.isEmpty }
  var all: [any PushWaiter] { Array(waiters.values) }
  subscript(number: Int) -> (any PushWaiter)? { waiters[number] }

  /// A number for who may come to wait.
  func makeNumber() -> Int {
    count += 1
    return count
  }

  func add(_ waiter: any PushWaiter, as number: Int) { waiters[number] = waiter }
  func remove(_ number: Int) { waiters[number] = nil }

  /// Tells whoever has the ticket, if that is still there.
  func settle(_ ticket: PushTicket, _ result: SubmissionResult, undo: (() -> Void)? = nil) {
    waiters[ticket.waiter]?.settled(ticket.sequence, result, undo: undo)
  }
}

/// Broadcasts to this emulator's own devices. A provider hears of success once all who listened have been handed its broadcast: in
/// the same turn, but for channels with so many that this takes some.
final class LocalBroadcasts: BroadcastSink {
  private let broadcasts: Broadcasts
  private let waiters: PushWaiters

  init(_ broker: Broker, _ waiters: PushWaiters) { (broadcasts, self.waiters) = (broker.broadcasts, waiters) }

  func broadcast(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, for ticket: PushTicket,
    now: Timestamp
  ) -> PushVerdict {
    let id = broadcasts.send(submission, to: key, storageSeconds: storageSeconds, now: now) { [waiters] in
      // Nobody waits yet for what is through at once.
      waiters.settle(ticket, SubmissionResult(id: $0))
    }
    return broadcasts.isUnderWay(id) ? .later(id) : .now(SubmissionResult(id: id))
  }
}
