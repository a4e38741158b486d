import Basics
import PushModel

/// Where pushes go that have passed an interface's own checks, if not to this emulator's token map, which knows at once what becomes
/// of them: to somebody whose verdict may come later.
///
///     submit ─→ now: the verdict
///        ├────→ later: whoever waits hears of it by the ticket
///        └────→ busy: nothing was done; whoever waits is told when to submit it again
public protocol PushSink: AnyObject {
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
  public func flush() {}
  public func discard(of waiter: Int) {}
}

/// A sink whose pushes outlive the process (`--forward`). A provider on the gateway takes what it sent for accepted, as it hears
/// nothing: so what was read is kept before it is submitted, too, and until its provider has heard that it was not taken.
///
///     read ─ keep ─→ kept ─ submitted with its ticket ─→ kept by the sink ─ a verdict ─→ gone
///                     ├──── forget: dealt with otherwise ──────────────────────────────↗
///                     └──── release: its provider is told to send it again ─ closed ───↗
public protocol BridgeSink: PushSink {
  /// What providers are told to send again.
  var released: ReleasedPushes { get set }
  /// A frame was read and must wait before it is submitted. Answers the id under which it is kept.
  func keep(_ frame: [UInt8], _ topic: TopicID?, _ environment: Environment) -> Int64
  /// They need not be kept any more.
  func forget(_ kept: [Int64])
  /// Under which ids all that is kept which was submitted on the connection and has no verdict.
  func keptOfSubmitted(on number: Int) -> [Int64]
}

extension BridgeSink {
  /// From now on what is released on the connection waits for its end.
  public func connectionOpened(_ number: Int) { released.open(number) }
  /// They need not be kept once the connection is closed: until then its provider may not have heard that it must send them again.
  public func release(_ kept: [Int64], whenClosed number: Int) { forget(released.release(kept, on: number)) }
  /// The same of all that was submitted on the connection and has no verdict.
  public func releaseSubmitted(whenClosed number: Int) {
    release(keptOfSubmitted(on: number), whenClosed: number)
  }
  /// Without having heard, its provider takes what was released for accepted: it stays kept.
  public func connectionClosed(_ number: Int, hasHeard: Bool) {
    forget(released.close(number, hasHeard: hasHeard))
  }
}

/// What is kept although its provider is told to send it again, by connections that are open: it may not have heard yet.
public struct ReleasedPushes {
  private var ids: [Int: [Int64]] = [:]

  public init() {}

  /// On all connections.
  public var count: Int { ids.values.reduce(0) { $0 + $1.count } }

  public mutating func open(_ connection: Int) { ids[connection] = [] }

  /// Answers which need not be kept any more: none while the connection is open.
  public mutating func release(_ released: [Int64], on connection: Int) -> [Int64] {
    ids[connection]?.append(contentsOf: released) == nil ? released : []
  }

  /// Answers which need not be kept any more: what was released, if the provider has heard of it.
  public mutating func close(_ connection: Int, hasHeard: Bool) -> [Int64] {
    let released = ids.removeValue(forKey: connection) ?? []
    return hasHeard ? released : []
  }
}

/// Watches what comes in, such as for a capture; what a sink decides later is seen with its verdict.
public protocol TrafficRecorder: AnyObject {
  /// A provider whose certificate is for a topic has connected to the gateway; answers its number.
  func gatewayOpened(_ topic: TopicID?, _ environment: Environment) -> UInt32
  /// Somebody else is to decide about a notification of the history.
  func awaits(_ id: UInt64)
  /// The verdict is there. One that its provider has to send again is recorded then.
  func decided(_ id: UInt64, isRecorded: Bool)
}

/// Where broadcasts go.
public protocol BroadcastSink: AnyObject {
  /// Sends a broadcast to everybody who listens to a channel, wherever they are.
  func broadcast(
    _ submission: Submission, to key: ChannelTable.Key, storageSeconds: Int64, for ticket: PushTicket,
    now: Timestamp
  ) -> PushVerdict
}

/// The other nodes of a cluster, for those who answer providers here: what is another's to decide it is asked for.
public protocol OtherNodes: AnyObject {
  /// Whether another node decides about a token that is not known here.
  func decide(onUnknown token: DeviceToken) -> Bool
  /// Whether a channel that this node makes may have such an id.
  func mayName(channel id: [UInt8]) -> Bool
  /// Has the node that a channel belongs to make it, or with nil delete it; `done` hears whether it did. False if that is this node.
  func change(
    _ channel: ChannelTable.Key, storesNewest: Bool?, done: @escaping (_ isDone: Bool) -> Void
  ) -> Bool
  /// A provider has read these rows from the feedback service.
  func feedbackWasRead(_ rows: [RegistrationID])
}

/// What a sink lets one connection have outstanding, and in what order its verdicts may be told.
public struct PushWindow: Sendable {
  /// Most pushes whose verdict may be outstanding, as a count.
  public var size: Int
  /// A push may be tried more than once, so that a second for its token has to wait or would overtake it.
  public var mayRetry = false
  /// A provider hears of a rejection when all that it sent behind that is decided, too, at the latest after the sink's timeout:
  /// what it sends then may come by another way, and must not be overtaken.
  public var decidesAllFirst = false

  public init(size: Int = .max, mayRetry: Bool = false, decidesAllFirst: Bool = false) {
    (self.size, self.mayRetry, self.decidesAllFirst) = (max(1, size), mayRetry, decidesAllFirst)
  }
}

/// Whose push it is, for the verdict that comes later.
public struct PushTicket: Equatable {
  /// By `PushWaiters`; 0 for nobody.
  public var waiter: Int
  /// Numbers the waiter's own pushes.
  public var sequence: UInt64
  /// What a bridge keeps it under already; 0 for nothing.
  public var kept: Int64 = 0

  public init(waiter: Int, sequence: UInt64, kept: Int64 = 0) {
    (self.waiter, self.sequence, self.kept) = (waiter, sequence, kept)
  }
}

/// What a sink says of a push.
public enum PushVerdict {
  case now(SubmissionResult)
  /// With the notification's id in the history.
  case later(UInt64)
  case busy
}

/// Has submitted pushes whose verdict comes later.
public protocol PushWaiter: AnyObject {
  /// The verdict on one. `undo` is for one that was accepted while its provider hears otherwise: a rejection in front of it
  /// makes the provider take it for discarded.
  func settled(_ sequence: UInt64, _ result: SubmissionResult, undo: (() -> Void)?)
  /// What the sink was too busy for may be submitted again.
  func resume()
  /// No verdict comes any more: the emulator ends.
  func endWithoutVerdicts()
}

/// Who waits for verdicts, by number. It keeps them alive: what was sent goes on without the provider that sent it.
public final class PushWaiters {
  private var count = 0
  private var waiters: [Int: any PushWaiter] = [:]

  public init() {}

  public var isEmpty: Bool { waiters.isEmpty }
  public var all: [any PushWaiter] { Array(waiters.values) }
  public subscript(number: Int) -> (any PushWaiter)? { waiters[number] }

  /// A number for who may come to wait.
  public func makeNumber() -> Int {
    count += 1
    return count
  }

  public func add(_ waiter: any PushWaiter, as number: Int) { waiters[number] = waiter }
  public func remove(_ number: Int) { waiters[number] = nil }

  /// Tells whoever has the ticket, if that is still there.
  public func settle(_ ticket: PushTicket, _ result: SubmissionResult, undo: (() -> Void)? = nil) {
    waiters[ticket.waiter]?.settled(ticket.sequence, result, undo: undo)
  }
}

/// A push over HTTP whose verdict was not there at once. It lives until the verdict is.
///
///     later ─────────────────→ settled ─→ `then`
///     busy ─ go on ─→ submitted again ─┘    ↑
///       └──────────── the emulator ends ────┘
public final class OutstandingPush: PushWaiter {
  /// Its id in the history; nil while the sink is too busy for it.
  public private(set) var id: UInt64?
  /// Called once with the verdict; with nil if there will be none.
  public var then: ((SubmissionResult?) -> Void)?
  private let number: Int
  private let waiters: PushWaiters
  private let submitAgain: () -> PushVerdict

  /// Waits under the ticket's number, which is this push's alone.
  public init(
    _ verdict: PushVerdict, _ ticket: PushTicket, _ waiters: PushWaiters,
    submitAgain: @escaping () -> PushVerdict
  ) {
    (number, self.waiters, self.submitAgain) = (ticket.waiter, waiters, submitAgain)
    if case .later(let id) = verdict { self.id = id }
    waiters.add(self, as: number)
  }

  public func settled(_ sequence: UInt64, _ result: SubmissionResult, undo: (() -> Void)?) {
    waiters.remove(number)
    tell(result)
  }

  public func resume() {
    guard id == nil else { return }
    switch submitAgain() {
    case .now(let result): settled(0, result, undo: nil)
    case .later(let id): self.id = id
    case .busy: break
    }
  }

  public func endWithoutVerdicts() {
    // What was never taken is not submitted again.
    if id == nil { waiters.remove(number) }
    tell(nil)
  }

  private func tell(_ result: SubmissionResult?) {
    let tell = then
    then = nil
    tell?(result)
  }
}

/// Broadcasts to this emulator's own devices. A provider hears of success once all who listened have been handed its broadcast: in
/// the same turn, but for channels with so many that this takes some.
public final class LocalBroadcasts: BroadcastSink {
  private let broadcasts: Broadcasts
  private let waiters: PushWaiters

  public init(_ broker: Broker, _ waiters: PushWaiters) {
    (broadcasts, self.waiters) = (broker.broadcasts, waiters)
  }

  public func broadcast(
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
