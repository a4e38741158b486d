import Basics
import NATSWire
import Platform
import Transport
import Zones

/// How a node comes into a cluster, before anything else of it is there: it makes the cluster if it is the first, and gets its number.
package enum ClusterJoin {
  fileprivate static let step: Int64 = 50_000_000
  /// How long a NATS server that lives may take, in nanoseconds: after that people are told what is waited for.
  private static let quiet: Int64 = 1_000_000_000

  fileprivate static let madeWith =
    "the cluster was made with --cluster-secret: this node needs the same file as the others"
  fileprivate static let madeWithout =
    "the cluster was made without --cluster-secret: start this node without it too, make the cluster again, or give this node one of its own (--cluster)"
  fileprivate static let otherSecret =
    "the cluster was made with another secret than that of --cluster-secret: all nodes need the same file"

  /// Why a node can't join.
  package struct Refusal: Error, CustomStringConvertible { package let description: String }

  /// Turns the loop until it has joined, or `timeout` nanoseconds are over. The questions to others have time of their own beside
  /// that: whoever hangs is no obstacle once it is over.
  static func run(
    _ client: NATSClient, _ log: LogStream, loop: EventLoop, _ settings: NodeSettings, timeout: Int64
  ) throws -> ClusterMembership {
    let known = try settings.folder.flatMap { try KnownCluster.read(in: $0) }
    let repairs = settings.log(client, loop) { $0.repairs(replicas: $1) }
    let joining = Joining(client, log, repairs, settings, known)
    let begun = SystemClock.now()
    var hasTold = false
    let isOver = {
      guard joining.result == nil else { return true }
      if !hasTold, SystemClock.now().nanoseconds(since: begun) >= quiet {
        settings.tell("waiting for \(joining.awaited)", joining.trouble)
        hasTold = true
      }
      return false
    }
    joining.begin()
    if !loop.turn(until: isOver, within: timeout), joining.hasCalled {
      _ = loop.turn(until: isOver, within: NodeCall.timeout + quiet)
    }
    guard let membership = try joining.result?.get() else { throw Refusal(description: joining.trouble) }
    if known == nil, let folder = settings.folder { remember(joining, in: folder, settings) }
    return membership
  }

  /// A folder that can't be written is no reason to stay away: nothing else of a node is in it.
  private static func remember(_ joining: Joining, in folder: String, _ settings: NodeSettings) {
    do { try joining.found?.write(in: folder) } catch {
      settings.tell("can't write to the data folder which cluster this node is in", "\(error)")
    }
  }
}

/// Open the log → read its first message, or be the first to write it → look who lives → say that we are here.
private final class Joining {
  private let client: NATSClient
  private let log: LogStream
  private let settings: NodeSettings
  /// The cluster that this node was in.
  private let known: KnownCluster?
  /// The one that NATS has.
  private(set) var found: KnownCluster?
  /// Where the log was when it was opened.
  private var last: UInt64 = 0
  private var birth: ClusterBirth?
  /// Of this node's credentials.
  private var fingerprints: NodeFingerprints?
  private(set) var result: Result<ClusterMembership, any Error>?
  private var failure: JetStreamFailure?
  private let repairs: LogStream
  private var asides = SetAside()
  /// Questions who lives that were not answered.
  private var openCalls = 0
  /// Others were asked.
  private(set) var hasCalled = false
  private var retry: LoopEvent?

  init(
    _ client: NATSClient, _ log: LogStream, _ repairs: LogStream, _ settings: NodeSettings,
    _ known: KnownCluster?
  ) {
    self.repairs = repairs
    (self.client, self.log, self.settings, self.known) = (client, log, settings, known)
  }

  private var stream: String { log.configuration.name }

  /// Other nodes were asked, and have not answered.
  private var isCalling: Bool { openCalls > 0 }

  /// What it waits for.
  var awaited: String { isCalling ? "another node" : "the NATS server" }

  /// Why it has not joined so far, as a whole sentence.
  var trouble: String {
    if isCalling {
      return
        "the node named \(settings.name), or the only node that knows the cluster's settings, does not answer"
    }
    return client.unreachableBecause ?? (failure ?? log.trouble).map { "\($0)" }
      ?? "the NATS server does not answer"
  }

  func begin() {
    // Whoever misses its cluster makes no other, which would be in the way of putting back the old.
    log.open(isMade: known == nil) { [weak self] in
      switch $0 {
      case .success(let state):
        self?.last = state.lastSequence
        self?.readBirth()
      case .failure(.refused(JetStreamFailure.streamNotFoundCode, _)): self?.giveBirth()
      case .failure(let failure): self?.refuse("\(failure)")
      }
    }
  }

  private func refuse(_ sentence: String) {
    if result == nil { result = .failure(ClusterJoin.Refusal(description: sentence)) }
  }

  // MARK: The cluster

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
    guard settings.seal != nil || !ClusterSeal.isSealed(record.payload) else {
      return refuse(ClusterJoin.madeWith)
    }
    guard let birth = ClusterBirth(record.payload, seal: settings.seal) else {
      return refuse(
        "the stream \(stream) does not begin as a cluster's does, or was begun by another version of apns-emulator"
      )
    }
    do {
      let found = KnownCluster(
        settings.names.cluster, identity: try birth.identity(), made: log.created ?? "")
      if isOther(found) { return }
      if let zones = settings.zones, zones != birth.zones {
        return refuse(
          "expected a cluster of \(zones.count) zones (--zones), got one that was made with \(birth.zones.count)"
        )
      }
      fingerprints = try settings.credentials?.fingerprints(secret: birth.secret)
      (self.birth, self.found) = (birth, found)
    } catch { return refuse("\(error)") }
    readRepairs()
  }

  private func readRepairs() {
    SetAside.read(repairs) { [weak self] in
      switch $0 {
      case .success(let asides):
        self?.asides = asides
        self?.lookWhoLives()
      case .failure(let failure) where failure.isPassing: self?.again(failure) { $0.readRepairs() }
      case .failure(let failure): self?.refuse("\(failure)")
      }
    }
  }

  private func giveBirth() {
    if isOther(nil) { return }
    let birth = ClusterBirth(zones: settings.zones ?? ZoneMap.usual, seal: settings.seal)
    log.append(birth.encoded, behind: 0) { [weak self] in
      switch $0 {
      // Somebody may have been first.
      case .success, .failure(.wrongLastSequence): self?.readBirth()
      case .failure(let failure): self?.again(failure) { $0.giveBirth() }
      }
    }
  }

  /// Refuses if NATS has not the cluster that this node was in.
  private func isOther(_ found: KnownCluster?) -> Bool {
    guard let known, let folder = settings.folder,
      let refusal = known.refusal(of: found, for: settings.names, in: folder)
    else { return false }
    refuse(refusal)
    return true
  }

  // MARK: The others

  /// Asks for a namesake, and for anybody whose version and credentials could be compared.
  private func lookWhoLives() {
    let names = settings.names
    (openCalls, hasCalled) = (2, true)
    call(names.calls(of: settings.name)) { [settings] in
      guard $0.name == settings.name else { return nil }
      let place = $0.address.map { " at \($0)" } ?? ""
      return
        "a node with the name \($0.name) is running\(place): give this one another --node, or a cluster of its own (--cluster)"
    }
    call(names.calls) { [settings, fingerprints] in
      if let refusal = $0.refusal(of: settings.name, speaking: settings.speaks) { return refusal }
      guard let others = $0.fingerprints else { return nil }
      return fingerprints?.refusal(of: settings.name, beside: others, of: $0.name)
    }
  }

  /// Asks who listens to a subject; `refusal` says why there can be no other node beside the one that answers first.
  private func call(_ subject: String, refusal: @escaping (NodeAnnouncement) -> String?) {
    let call = NodeCall()
    let place = ClusterSeal.Place(name: settings.names.calls, created: log.created ?? "")
    client.request(subject, call.question, within: NodeCall.timeout) { [weak self] answer in
      guard let self, result == nil else { return }
      // What is no answer is as good as none: it is not of a node.
      if case .message(let message) = answer,
        let node = call.answerer(message.payload, settings.seal, at: place),
        let sentence = refusal(node)
      {
        return refuse(sentence)
      }
      openCalls -= 1
      if openCalls == 0 { lookedWhoLives() }
    }
  }

  private func lookedWhoLives() {
    // Without a NATS server nobody was asked.
    guard client.info != nil else { return again(.late) { $0.lookWhoLives() } }
    sayThatWeAreHere()
  }

  private func sayThatWeAreHere() {
    log.appendAtEnd(ClusterMembers.joined(settings.name).encoded, behind: max(1, last)) { [weak self] in
      guard let self, let birth else { return }
      switch $0 {
      case .success(let ordinal) where ordinal < ClusterMembership.ordinalLimit:
        result = .success(
          ClusterMembership(
            birth: birth, ordinal: ordinal, fingerprints: fingerprints, asides: asides))
      case .success(let ordinal):
        refuse(
          "expected at most \(ClusterMembership.ordinalLimit) changes of the cluster, got \(ordinal): make it again"
        )
      // Having joined twice is no harm.
      case .failure(let failure): again(failure) { $0.sayThatWeAreHere() }
      }
    }
  }

  /// NATS may come yet; who waits has set a limit.
  private func again(_ failure: JetStreamFailure, _ step: @escaping (Joining) -> Void) {
    self.failure = failure
    retry?.cancel()
    retry = log.after(ClusterJoin.step) { [weak self] in if let self { step(self) } }
  }
}
