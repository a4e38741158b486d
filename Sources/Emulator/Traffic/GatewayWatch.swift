import Advice
import AdviceFeed
import Basics
import Broker
import Faults
import LegacyWire
import Platform
import PushModel
import Transport

/// What is told of one connection to the gateway, for advice: how it begins and ends, and what comes behind a rejected frame.
///
///     open ─ the error packet ─→ frames behind it, up to `lookedAt` bytes ─→ a count ─→ ended
final class GatewayWatch {
  /// Frames of a new connection that are looked at whatever they are, as a count.
  private static let sampleSize = 64
  /// How much of what comes behind a rejected frame is looked at, in bytes.
  private static let lookedAt = 1 << 20
  /// After this time behind its error packet a provider that goes on writing does not read, in nanoseconds: before, its frames may have
  /// been under way.
  private static let readingTime: Int64 = 1_000_000_000
  /// What TLS adds to a frame at most, in bytes: a record of its own for each.
  private static let recordOverhead = 64

  /// Its number for capture and adviser.
  let number: UInt32
  private let traffic: ProviderTraffic
  private var advice: AdviceService { traffic.advice }
  private let journal: Journal
  /// The next notification when it connected, by its id.
  private let firstId: UInt64
  /// The next notification when what is read now began; 0 while nothing is.
  private var readFrom: UInt64 = 0
  /// Frames that are still to be looked at.
  private var sampleLeft = sampleSize
  private var end = SeenEnd()
  /// When the error packet was written.
  private var rejectedAt: Instant?
  private var behind = LegacyDecoder()
  /// The frame at which a server goes: its provider has to send it again; empty for none.
  private var again: [UInt8] = []
  /// The beginning of a frame that has not come whole, while others wait before it.
  private var held: [UInt8] = []
  /// Nothing behind a frame that can't be read can be told apart.
  private var isUnreadable = false
  /// The longest frame behind the rejected one, in bytes.
  private var longest = 0

  /// Tells the provider its number.
  init(
    _ traffic: ProviderTraffic, _ provider: inout GatewayProvider, _ broker: Broker,
    _ connection: SocketConnection
  ) {
    (self.traffic, journal, firstId) = (traffic, broker.journal, broker.journal.nextId)
    number = traffic.gatewayOpened(provider.topic, provider.environment)
    provider.connection = number
    advice.opened(
      SeenConnection(
        number: number, interface: .gateway,
        credential: provider.topic.map { SeenConnection.certificate(broker.registry[$0].label) },
        connection))
  }

  // MARK: Frames

  /// Bytes have come, and are about to be looked at.
  @inline(__always)
  func inputBegins() {
    if !held.isEmpty { held = [] }
    readBegins()
  }

  /// Frames are about to be looked at.
  @inline(__always)
  func readBegins() {
    // A fault may end the connection amid a read, and what it has waiting is looked at then.
    if readFrom != 0 { countRead() }
    readFrom = journal.nextId
    if sampleLeft > 0 { advice.beginSample(of: number) }
  }

  /// They were.
  @inline(__always)
  func readEnds() {
    let count = countRead()
    if sampleLeft > 0 { endSample(count) }
  }

  /// They were; what is `behind` lies behind a rejected frame, and `partial` behind frames that wait.
  @inline(__always)
  func readEnds(behind: Span<UInt8>, holding partial: [UInt8]) {
    if !partial.isEmpty { held = partial }
    readEnds()
    if !behind.isEmpty { discards(behind) }
  }

  /// Counts the pushes of what is being read, once; answers how many they are.
  @discardableResult
  private func countRead() -> Int {
    let count = readFrom == 0 ? 0 : Int(truncatingIfNeeded: journal.nextId &- readFrom)
    readFrom = 0
    end.pushes &+= count
    return count
  }

  private func endSample(_ count: Int) {
    advice.endSample()
    sampleLeft -= count
  }

  /// A fault is about to do what it wants to do; it may end the connection.
  func injected(_ plan: FaultPlan, _ decision: FaultEngine.Decision, into notification: LegacyNotification) {
    if plan.breakage != nil || plan.farewell != nil { end.fault = decision.name }
    guard case .refuse(let refusal) = plan.fate else { return }
    end.fault = decision.name
    if refusal.status == Rejection.shutdown.legacyStatus { again = Array(notification.frame) }
  }

  /// The connection ends with an error packet, or in silence after command 0. What has waited behind the rejected frame is not taken, as
  /// is what comes later, which the connection is to show.
  func rejected<Undo>(
    _ ending: VerdictWindow<Undo>.Ending, behind waiting: WaitingFrames, isFirstBegun: Bool,
    on connection: SocketConnection?
  ) {
    rejectedAt = SystemClock.now()
    if ending.command != LegacyCommand.simple.rawValue {
      advice.saw(
        .errorPacket(status: ending.status, identifier: ending.identifier, fault: end.fault), on: number)
      // A server that goes and names none has its provider send all of it again.
      let namesNone = ending.identifier == 0 && ending.status == Rejection.shutdown.legacyStatus
      if !namesNone { advice.tellAccepted(on: number, since: firstId) }
    }
    if !again.isEmpty { discards(again.span) }
    again = []
    waiting.forEach(isFirstBegun: isFirstBegun) { discards($0) }
    discards(held.span)
    held = []
    connection?.shownAfterEnd = isUnreadable ? 0 : Self.lookedAt
  }

  /// What was rejected is no frame: what follows can't be read.
  func couldNotRead() { isUnreadable = true }

  /// Bytes came behind a rejected frame; none of them is taken.
  func discards(_ bytes: Span<UInt8>) {
    guard let rejectedAt, !isUnreadable else { return }
    let isLate = SystemClock.now().nanoseconds(since: rejectedAt) > Self.readingTime
    let failure = behind.receive(bytes) { notification in
      longest = max(longest, notification.frame.count)
      if isLate { end.leftPacketUnread = true }
      let lost = LostPush(token: notification.token.orNone, payload: notification.payload.orNone)
      advice.saw(.discardedBehindError(lost), on: number)
      return .goOn
    }
    if failure != nil { isUnreadable = true }
  }

  // MARK: The end

  /// The connection is gone; what it has brought may not be decided yet.
  func closed(_ connection: SocketConnection) {
    guard rejectedAt != nil else { return }
    if connection.wasCutBeforeEnd { end.leftPacketUnread = true }
    guard longest > 0, !isUnreadable else { return }
    let count = connection.thrownAway / (longest + Self.recordOverhead)
    if count > 0 { advice.saw(.discardedUnseen(count: count), on: number) }
  }

  /// All that came on it is decided.
  func ended() {
    countRead()
    traffic.closed(number)
    advice.ended(number, end)
  }
}

extension GatewayConnection {
  /// What came after the end.
  func connection(_ connection: SocketConnection, discards bytes: Span<UInt8>) { watch?.discards(bytes) }
}
