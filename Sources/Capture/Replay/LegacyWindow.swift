import Basics
import LegacyWire
import PushModel

/// What a sender of the binary protocol must remember: frames that were sent, or wait to be, and of which nothing is
/// known yet. Success is silent, an error names an identifier, and everything after that frame is lost and must be sent
/// again on a new connection (`Documentation/binary-protocol.md#error-packet`).
///
///     appended ─→ unsent ─→ sent ─┬─ fence answered ─→ accepted
///                             ↑   ├─ its error ─→ rejected; those before it accepted
///                             └───┴─ error of an earlier one, or connection lost
///
/// A *fence* is a frame that must be refused, with an identifier of its own: its error packet says that everything before
/// it was accepted (as Apple's clients of the time made sure,
/// `Documentation/binary-protocol.md#deliberately-bad-frames`). Frames without an identifier of their own get one
/// between them and their like if they were refused when recorded.
///
/// Frames that met silence are kept together as they came, unread, until something else than silence is heard.
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
    var isSimple = false
    /// Its error packet may carry 0 instead of its identifier.
    var mayBeUnnamed = false
    /// Whatever is before it must be known before it is sent.
    var needsFence = false
    /// How many frames it is, of as many tags; what else is known of it is known of one only.
    var frames = 1
  }

  /// Frames sent before the next fence after an error, as a count: what is sent behind a refused frame is sent in vain.
  private static let carefulBurst = 8
  /// So many frames answered in a row, and there is no need for fences any more.
  private static let trustedBurst = 1 << 16
  private static let fenceStart: UInt32 = 0xfe0c_e000

  private var items: ContiguousArray<Item> = []
  /// Items of several frames.
  private var joined = 0
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
  public var count: Int { items[head...].reduce(0) { $0 + $1.frames } }
  public var hasUnsent: Bool { sent < items.count }
  public var hasSent: Bool { sent > head }
  /// Bytes held, and bytes that wait to be sent.
  public var heldBytes: Int { bytes.count }
  public var unsentBytes: Int { hasUnsent ? bytes.count - items[sent].start : 0 }

  /// Adds a frame. `recorded` is nil for silence.
  @inline(__always)
  public mutating func append(_ frame: Span<UInt8>, tag: Int, recorded: CapturedOutcome?) {
    var item = Self.identified(frame, tag: tag, start: bytes.count)
    _ = bytes.extend(frame)
    if let recorded {
      item.recorded = Int32(outcomes.count)
      outcomes.append(recorded)
      if !recorded.isAccepted {
        splitAll()
        item.needsFence = isLikeAnother(item)
      }
    }
    if item.isSimple { simpleCount += 1 }
    items.append(item)
  }

  /// Adds `count` frames that met silence, of which each says how long it is; their tags follow each other.
  public mutating func append(_ frames: Span<UInt8>, count: Int, tag: Int) {
    guard count > 1 else { return append(frames, tag: tag, recorded: nil) }
    items.append(
      Item(tag: tag, identifier: 0, start: bytes.count, count: frames.count, recorded: -1, frames: count))
    _ = bytes.extend(frames)
    joined += 1
  }

  @inline(__always)
  private static func identified(_ frame: Span<UInt8>, tag: Int, start: Int) -> Item {
    var item = Item(tag: tag, identifier: 0, start: start, count: frame.count, recorded: -1)
    item.isSimple = frame.first == LegacyCommand.simple.rawValue
    guard !item.isSimple else { return item }
    if case .notification(let notification) = LegacyFrameParser.next(in: frame), frame.count > 0 {
      item.identifier = notification.identifier
      item.mayBeUnnamed = notification.token?.count ?? 0 == 0
    } else {
      item.mayBeUnnamed = true
    }
    return item
  }

  /// Makes every frame an item of its own.
  private mutating func splitAll() {
    guard joined > 0 else { return }
    var (parted, partedSent): (ContiguousArray<Item>, Int) = ([], 0)
    for index in head..<items.count {
      if index == sent { partedSent = parted.count }
      if items[index].frames == 1 { parted.append(items[index]) } else { split(items[index], &parted) }
    }
    if sent == items.count { partedSent = parted.count }
    (items, head, sent, joined) = (parted, 0, partedSent, 0)
  }

  private mutating func split(_ item: Item, _ parted: inout ContiguousArray<Item>) {
    var (tag, simple) = (item.tag, 0)
    FrameExtent.forEach(in: bytes.span, item.start..<item.start + item.count) { frame, start in
      let one = Self.identified(frame, tag: tag, start: start)
      if one.isSimple { simple += 1 }
      parted.append(one)
      tag += 1
    }
    simpleCount += simple
  }

  private func isLikeAnother(_ item: Item) -> Bool {
    if item.isSimple { return simpleCount > 0 }
    return items[head...].contains { !$0.isSimple && matches($0, item.identifier) || item.mayBeUnnamed }
  }

  // MARK: Sending

  /// The next frames to send, and whether a fence must follow before anything else.
  public mutating func takeBurst(limit: Int) -> (bytes: [UInt8], needsFence: Bool) {
    if careful > 0 || allowance < .max { splitAll() }
    var end = sent
    let most = careful > 0 ? head + 1 : head + min(allowance, items.count - head)
    while end < most, end == sent || items[end].start - items[sent].start < limit {
      if items[end].needsFence, end > head { break }
      end += 1
    }
    let needsFence = end == most && most < items.count || end < most && items[end].needsFence && end > head
    guard end > sent else { return ([], needsFence) }
    let start = items[sent].start
    let stop = items[end - 1].start + items[end - 1].count
    sent = end
    return (Array(bytes.span.extracting(start..<stop)), needsFence)
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
    guard let packet else {
      splitAll()
      return closed(settle)
    }
    if isOfFence(packet) {
      allowance = allowance >= Self.trustedBurst ? .max : allowance * 2
      accept(upTo: sent, settle)
      return true
    }
    splitAll()
    if packet.status == Rejection.shutdown.legacyStatus { return shutDown(packet, settle) }
    return rejected(candidates { matches($0, packet.identifier) }, settle) {
      CapturedOutcome(status: Int(packet.status), identifier: packet.identifier)
    }
  }

  /// Whether a packet is about the fence. Frames that are kept together are looked at only if the status is not what a
  /// fence's token asks for: one that met silence, has the fence's very identifier and is refused for its token's size
  /// is not to be feared.
  private mutating func isOfFence(_ packet: LegacyErrorPacket) -> Bool {
    guard packet.identifier == fence else { return false }
    if packet.status == Rejection.invalidTokenSize.legacyStatus { return true }
    splitAll()
    return !items[head..<sent].contains { !$0.isSimple && $0.identifier == fence }
  }

  /// Nobody can say what became of what was sent: it counts as `outcome`.
  public mutating func giveUp(_ outcome: CapturedOutcome, _ settle: (Settled) -> Void) {
    splitAll()
    while head < sent { settleHead(outcome, settle) }
    compact()
  }

  /// Only a bad command 0 ends a connection without a packet (`Documentation/binary-protocol.md#error-packet`).
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
        silences += items[head].frames
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
    if items[head].frames > 1 { joined -= 1 }
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

  /// Moves what is left to the front once less than half of it is; the memory is used again.
  private mutating func compact() {
    guard head > 0, head * 2 >= items.count else { return }
    let start = head < items.count ? items[head].start : bytes.count
    bytes.removeFirst(start)
    items.removeSubrange(..<head)
    let settled = items.first { $0.recorded >= 0 }.map { Int($0.recorded) } ?? outcomes.count
    outcomes.removeFirst(settled)
    for index in items.indices {
      items[index].start -= start
      if items[index].recorded >= 0 { items[index].recorded -= Int32(settled) }
    }
    (head, sent) = (0, 0)
  }
}
