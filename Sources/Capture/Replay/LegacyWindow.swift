import LegacyWire
import PushModel

/// What a sender of the binary protocol must remember: frames that were sent, or wait to be, and of which nothing is
/// known yet. Success is silent, an error names an identifier, and everything after that frame is lost and must be sent
/// again on a new connection (`spec/provider-protocol.md` A.3).
///
///     appended ─→ unsent ─→ sent ─┬─ fence answered ─→ accepted
///                             ↑   ├─ its error ─→ rejected; those before it accepted
///                             └───┴─ error of an earlier one, or connection lost
///
/// A *fence* is a frame that must be refused, with an identifier of its own: its error packet says that everything before
/// it was accepted (as Apple's clients of the time made sure, A.3 "Deliberately bad frames"). Frames without an
/// identifier of their own get one between them and their like if they were refused when recorded.
public struct LegacyWindow {
  /// What was learnt of one push.
  public struct Settled {
    /// Where the caller finds it, as given to `append`.
    public var tag: Int
    /// The frame's own; nil for command 0.
    public var identifier: UInt32?
    public var recorded: CapturedOutcome
    public var outcome: CapturedOutcome
  }

  private struct Item {
    var tag: Int
    var identifier: UInt32
    var start: Int
    var count: Int
    var recorded: Int32
    /// Nothing is said but the end of the connection.
    var isSimple: Bool
    /// Its error packet may carry 0 instead of its identifier.
    var mayBeUnnamed: Bool
    /// Whatever is before it must be known before it is sent.
    var needsFence: Bool
  }

  /// Frames sent before the next fence after an error, as a count: what is sent behind a refused frame is sent in vain.
  private static let carefulBurst = 8
  private static let fenceStart: UInt32 = 0xfe0c_e000

  private var items: ContiguousArray<Item> = []
  private var head = 0
  private var sent = 0
  private var bytes = CaptureText()
  private var outcomes: [CapturedOutcome] = []
  private var simpleCount = 0
  private var silences = 0
  /// Most frames that may be sent before the next fence.
  private var allowance = Int.max
  /// Frames from the head on that must go one by one, as they can't be told apart.
  private var careful = 0
  private var fence = fenceStart

  public init() {}

  public var isEmpty: Bool { head == items.count }
  public var count: Int { items.count - head }
  public var hasUnsent: Bool { sent < items.count }
  public var hasSent: Bool { sent > head }
  /// Bytes held, and bytes that wait to be sent.
  public var heldBytes: Int { bytes.count }
  public var unsentBytes: Int { hasUnsent ? bytes.count - items[sent].start : 0 }

  /// Adds a frame.
  @inline(__always)
  public mutating func append(_ frame: UnsafeRawBufferPointer, tag: Int, recorded: CapturedOutcome?) {
    let start = bytes.count
    _ = bytes.extend(frame)
    var item = Item(
      tag: tag, identifier: 0, start: start, count: frame.count, recorded: -1,
      isSimple: frame.first == LegacyCommand.simple.rawValue, mayBeUnnamed: false, needsFence: false)
    identify(&item, frame)
    if let recorded {
      item.recorded = Int32(outcomes.count)
      outcomes.append(recorded)
      item.needsFence = !recorded.isAccepted && isLikeAnother(item)
    }
    if item.isSimple { simpleCount += 1 }
    items.append(item)
  }

  @inline(__always)
  private func identify(_ item: inout Item, _ frame: UnsafeRawBufferPointer) {
    guard !item.isSimple else { return }
    if case .notification(let notification) = LegacyFrameParser.next(in: frame), frame.count > 0 {
      item.identifier = notification.identifier
      item.mayBeUnnamed = notification.token?.count ?? 0 == 0
    } else {
      item.mayBeUnnamed = true
    }
  }

  private func isLikeAnother(_ item: Item) -> Bool {
    if item.isSimple { return simpleCount > 0 }
    return items[head...].contains { !$0.isSimple && matches($0, item.identifier) || item.mayBeUnnamed }
  }

  // MARK: Sending

  /// The next frames to send, lent until the window changes, and whether a fence must follow before anything else.
  public mutating func takeBurst(limit: Int) -> (bytes: UnsafeRawBufferPointer, needsFence: Bool) {
    var end = sent
    let most = careful > 0 ? head + 1 : head + min(allowance, items.count - head)
    while end < most, end == sent || items[end].start - items[sent].start < limit {
      if items[end].needsFence, end > head { break }
      end += 1
    }
    let needsFence = end == most && most < items.count || end < most && items[end].needsFence && end > head
    guard end > sent else { return (UnsafeRawBufferPointer(start: nil, count: 0), needsFence) }
    let start = items[sent].start
    let stop = items[end - 1].start + items[end - 1].count
    sent = end
    return (UnsafeRawBufferPointer(rebasing: bytes.bytes[start..<stop]), needsFence)
  }

  /// A frame that must be refused: its token has one byte.
  public mutating func makeFence() -> [UInt8] {
    repeat { fence &+= 1 } while items[head..<sent].contains { $0.identifier == fence }
    return LegacyEncoder.enhanced(
      identifier: fence, expiration: 0, token: [0], payload: Array("{}".utf8))
  }

  // MARK: Learning

  /// The connection has ended, with a packet or without. Answers whether that says anything; what was sent and is not
  /// settled must be sent again either way. Those that met silence as they did when recorded are only counted, in
  /// `silences`.
  public mutating func connectionEnded(_ packet: LegacyErrorPacket?, _ settle: (Settled) -> Void) -> Bool {
    defer {
      sent = head
      compact()
    }
    guard hasSent else { return false }
    guard let packet else { return closed(settle) }
    if packet.identifier == fence {
      allowance = allowance > Int.max / 2 ? .max : allowance * 2
      accept(upTo: sent, settle)
      return true
    }
    if packet.status == Rejection.shutdown.legacyStatus { return shutDown(packet, settle) }
    return rejected(candidates { matches($0, packet.identifier) }, settle) {
      CapturedOutcome(status: Int(packet.status), identifier: packet.identifier)
    }
  }

  /// Nobody can say what became of what was sent: it counts as `outcome`.
  public mutating func giveUp(_ outcome: CapturedOutcome, _ settle: (Settled) -> Void) {
    while head < sent { settleHead(outcome, settle) }
    compact()
  }

  /// Only a bad command 0 ends a connection without a packet (A.3).
  private mutating func closed(_ settle: (Settled) -> Void) -> Bool {
    rejected(candidates { $0.isSimple }, settle) {
      var outcome = CapturedOutcome(status: 0)
      outcome.isClosed = true
      return outcome
    }
  }

  /// Maintenance: the identifier is that of the last one that was accepted.
  private mutating func shutDown(_ packet: LegacyErrorPacket, _ settle: (Settled) -> Void) -> Bool {
    let last = items[head..<sent].lastIndex { !$0.isSimple && $0.identifier == packet.identifier }
    guard let last else { return false }
    accept(upTo: last + 1, settle)
    return true
  }

  private func matches(_ item: Item, _ identifier: UInt32) -> Bool {
    !item.isSimple && item.identifier == identifier || identifier == 0 && item.mayBeUnnamed
  }

  private func candidates(_ isOne: (Item) -> Bool) -> [Int] {
    let found = (head..<sent).filter { isOne(items[$0]) }
    // Alone on its connection: whatever is said is said of it.
    return found.isEmpty && sent == head + 1 ? [head] : found
  }

  private mutating func rejected(
    _ candidates: [Int], _ settle: (Settled) -> Void, _ outcome: () -> CapturedOutcome
  ) -> Bool {
    guard let first = candidates.first, let last = candidates.last else { return false }
    accept(upTo: first, settle)
    if first == last {
      allowance = Self.carefulBurst
      settleHead(outcome(), settle)
    } else {
      careful = max(careful, last + 1 - first)
    }
    return true
  }

  private mutating func accept(upTo end: Int, _ settle: (Settled) -> Void) {
    while head < end {
      if items[head].recorded < 0 {
        silences += 1
        dropHead()
      } else {
        settleHead(.silence, settle)
      }
    }
  }

  /// Those counted since the last call.
  public mutating func takeSilences() -> Int {
    defer { silences = 0 }
    return silences
  }

  @inline(__always)
  private mutating func dropHead() {
    if careful > 0 { careful -= 1 }
    if items[head].isSimple { simpleCount -= 1 }
    head += 1
  }

  private mutating func settleHead(_ outcome: CapturedOutcome, _ settle: (Settled) -> Void) {
    let item = items[head]
    dropHead()
    let recorded = item.recorded < 0 ? CapturedOutcome.silence : outcomes[Int(item.recorded)]
    settle(
      Settled(
        tag: item.tag, identifier: item.isSimple ? nil : item.identifier, recorded: recorded, outcome: outcome
      ))
  }

  /// Gives memory of settled frames back once there is much of it.
  private mutating func compact() {
    guard head > 0, head * 2 >= items.count else { return }
    let kept = items[head...]
    let fresh = CaptureText()
    var (freshOutcomes, freshItems): ([CapturedOutcome], ContiguousArray<Item>) = ([], [])
    for var item in kept {
      let piece = fresh.extend(
        UnsafeRawBufferPointer(rebasing: bytes.bytes[item.start..<item.start + item.count]))
      item.start = Int(piece.start)
      if item.recorded >= 0 {
        freshOutcomes.append(outcomes[Int(item.recorded)])
        item.recorded = Int32(freshOutcomes.count - 1)
      }
      freshItems.append(item)
    }
    if kept.isEmpty {
      bytes.removeAll()
      items.removeAll(keepingCapacity: true)
      outcomes.removeAll()
    } else {
      (bytes, items, outcomes) = (fresh, freshItems, freshOutcomes)
    }
    (head, sent) = (0, 0)
  }
}
