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

  struct Item {
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
  static let carefulBurst = 8
  /// So many frames answered in a row, and there is no need for fences any more.
  static let trustedBurst = 1 << 16
  private static let fenceStart: UInt32 = 0xfe0c_e000

  var items: ContiguousArray<Item> = []
  /// Items of several frames.
  var joined = 0
  var head = 0
  var sent = 0
  var bytes = CaptureText()
  var outcomes: [CapturedOutcome] = []
  var simpleCount = 0
  var silences = 0
  /// Most frames that may be sent before the next fence.
  var allowance = Int.max
  /// Frames from the head on that must go one by one, as they can't be told apart.
  var careful = 0
  var fence = fenceStart

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
  public mutating func append(_ frame: UnsafeRawBufferPointer, tag: Int, recorded: CapturedOutcome?) {
    var item = Self.identified(frame, tag: tag, start: bytes.count)
    _ = bytes.extend(frame)
    if let recorded {
      item.recorded = Int32(outcomes.count)
      outcomes.append(recorded)
      if !recorded.isAccepted {
        part()
        item.needsFence = isLikeAnother(item)
      }
    }
    if item.isSimple { simpleCount += 1 }
    items.append(item)
  }

  /// Adds `count` frames that met silence, of which each says how long it is; their tags follow each other.
  public mutating func append(_ frames: UnsafeRawBufferPointer, count: Int, tag: Int) {
    guard count > 1 else { return append(frames, tag: tag, recorded: nil) }
    items.append(
      Item(tag: tag, identifier: 0, start: bytes.count, count: frames.count, recorded: -1, frames: count))
    _ = bytes.extend(frames)
    joined += 1
  }

  @inline(__always)
  private static func identified(_ frame: UnsafeRawBufferPointer, tag: Int, start: Int) -> Item {
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
  mutating func part() {
    guard joined > 0 else { return }
    var (parted, partedSent): (ContiguousArray<Item>, Int) = ([], 0)
    for index in head..<items.count {
      if index == sent { partedSent = parted.count }
      if items[index].frames == 1 { parted.append(items[index]) } else { part(items[index], &parted) }
    }
    if sent == items.count { partedSent = parted.count }
    (items, head, sent, joined) = (parted, 0, partedSent, 0)
  }

  private mutating func part(_ item: Item, _ parted: inout ContiguousArray<Item>) {
    var tag = item.tag
    FrameExtent.forEach(in: bytes.bytes, item.start..<item.start + item.count) { frame, start in
      let one = Self.identified(frame, tag: tag, start: start)
      if one.isSimple { simpleCount += 1 }
      parted.append(one)
      tag += 1
    }
  }

  private func isLikeAnother(_ item: Item) -> Bool {
    if item.isSimple { return simpleCount > 0 }
    return items[head...].contains { !$0.isSimple && matches($0, item.identifier) || item.mayBeUnnamed }
  }

  // MARK: Sending

  /// The next frames to send, lent until the window changes, and whether a fence must follow before anything else.
  public mutating func takeBurst(limit: Int) -> (bytes: UnsafeRawBufferPointer, needsFence: Bool) {
    if careful > 0 || allowance < .max { part() }
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
}
