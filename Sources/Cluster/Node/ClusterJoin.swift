import NATSWire
import Platform
import PushModel
import Transport
import Zones

/// How a node comes into a cluster, before anything else of it is there: it makes the cluster if it is the first, and gets its number.
enum ClusterJoin {
  static let stream = "APNS_CLUSTER"
  static let subject = "apns.cluster"
  private static let step: Int64 = 50_000_000
  /// How long an engine that lives may take, in nanoseconds: after that people are told what is waited for.
  private static let quiet: Int64 = 1_000_000_000

  private static let madeWith =
    "the cluster was made with --cluster-secret: this node needs the same file as the others"
  private static let madeWithout =
    "the cluster was made without --cluster-secret: start this node without it too, or make the cluster anew"
  private static let otherSecret =
    "the cluster was made with another secret than that of --cluster-secret: all nodes need the same file"

  /// Why a node can't join.
  struct Refusal: Error, CustomStringConvertible { let description: String }

  /// Turns the loop until it has joined, or `patience` nanoseconds are over. `tell` hears what it waits for, if that is long.
  static func run(
    _ client: NATSClient, _ log: LogStream, loop: EventLoop, node: String, zones: ZoneMap?,
    seal: ClusterSeal?,
    patience: Int64, tell: (_ trouble: String) -> Void
  ) throws -> ClusterMembership {
    let joining = Joining(client, log, node: node, zones: zones, seal: seal)
    let begun = SystemClock.now()
    var hasTold = false
    // Ends a turn in which nothing happens.
    let wakeUp = LoopEvent(timerOn: loop) {}
    joining.begin()
    while joining.result == nil {
      let waited = SystemClock.now().nanoseconds(since: begun)
      guard waited < patience else { throw Refusal(description: joining.trouble) }
      if waited >= quiet, !hasTold {
        tell(joining.trouble)
        hasTold = true
      }
      wakeUp.start(afterNanoseconds: step)
      loop.runTurn()
    }
    guard let membership = try joining.result?.get() else { throw Refusal(description: joining.trouble) }
    if let zones, zones != membership.birth.zones {
      throw Refusal(
        description:
          "expected a cluster of \(zones.count) zones (--zones), got one that was made with \(membership.birth.zones.count)"
      )
    }
    return membership
  }

  /// Open the log → read its first message, or be the first to write it → say that we are here.
  private final class Joining {
    private let client: NATSClient
    private let log: LogStream
    private let node: String
    private let zones: ZoneMap?
    private let seal: ClusterSeal?
    /// Where the log was when it was opened.
    private var last: UInt64 = 0
    private var birth: ClusterBirth?
    private(set) var result: Result<ClusterMembership, any Error>?
    private var failure: JetStreamFailure?

    init(_ client: NATSClient, _ log: LogStream, node: String, zones: ZoneMap?, seal: ClusterSeal?) {
      (self.client, self.log, self.node, self.zones, self.seal) = (client, log, node, zones, seal)
    }

    /// Why it has not joined so far.
    var trouble: String {
      client.awayBecause ?? (failure ?? log.trouble).map { "\($0)" } ?? "the engine does not answer"
    }

    func begin() {
      log.open { [weak self] in
        switch $0 {
        case .success(let state) where state.differences.isEmpty:
          self?.last = state.lastSequence
          self?.readBirth()
        case .success(let state):
          self?.refuse(
            "the stream \(stream) of the engine is not ours: \(state.differences.joined(separator: "; "))")
        case .failure(let failure): self?.refuse("\(failure)")
        }
      }
    }

    private func refuse(_ sentence: String) { result = .failure(Refusal(description: sentence)) }

    private func readBirth() {
      log.readBack(1) { [weak self] in
        switch $0 {
        case .success(let record): self?.take(record)
        case .failure(.refused(JetStreamFailure.messageNotFoundCode, _)): self?.giveBirth()
        case .failure(.alien(let isSealed)):
          self?.refuse(isSealed ? ClusterJoin.otherSecret : ClusterJoin.madeWithout)
        case .failure(let failure): self?.again(failure) { $0.readBirth() }
        }
      }
    }

    private func take(_ record: JetStreamRecord) {
      guard seal != nil || !ClusterSeal.isSealed(record.payload) else { return refuse(ClusterJoin.madeWith) }
      guard let birth = ClusterBirth(record.payload, seal: seal) else {
        return refuse("the stream \(stream) does not begin as a cluster's does")
      }
      self.birth = birth
      sayThatWeAreHere()
    }

    private func giveBirth() {
      let birth = ClusterBirth(zones: zones ?? ZoneMap.usual, seal: seal)
      log.append(birth.encoded, behind: 0) { [weak self] in
        switch $0 {
        // Somebody may have been first.
        case .success, .failure(.wrongLastSequence): self?.readBirth()
        case .failure(let failure): self?.again(failure) { $0.giveBirth() }
        }
      }
    }

    private func sayThatWeAreHere() {
      log.appendAtEnd(ClusterMembers.joined(node).encoded, behind: max(1, last)) { [weak self] in
        guard let self, let birth else { return }
        switch $0 {
        case .success(let ordinal) where ordinal < ClusterMembership.ordinalLimit:
          result = .success(ClusterMembership(birth: birth, ordinal: ordinal))
        case .success(let ordinal):
          refuse(
            "expected at most \(ClusterMembership.ordinalLimit) changes of the cluster, got \(ordinal): make it anew"
          )
        // Having joined twice is no harm.
        case .failure(let failure): again(failure) { $0.sayThatWeAreHere() }
        }
      }
    }

    /// The engine may come yet; who waits has set a limit.
    private func again(_ failure: JetStreamFailure, _ step: @escaping (Joining) -> Void) {
      self.failure = failure
      retry?.cancel()
      retry = log.after(ClusterJoin.step) { [weak self] in if let self { step(self) } }
    }

    private var retry: LoopEvent?
  }
}
