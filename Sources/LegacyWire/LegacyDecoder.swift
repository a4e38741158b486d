import Basics
import PushModel

/// Turns a provider's byte stream into notifications.
///
///     length unknown ──(enough bytes for the length fields)──→ length known ──(whole frame)──→ length unknown
///           └──────────────(unknown command, impossible length)──────────────→ failed, for good
///
/// TLS records and TCP segments have no meaning (`Documentation/binary-protocol.md#transport`): any split gives the
/// same frames. Whole frames are read in place; only a frame that is cut by the end of the input is copied, so the
/// decoder owns at most `LegacyLimits.frame` bytes, and none between frames.
public struct LegacyDecoder {
  /// What the owner wants after a notification.
  public enum Next { case goOn, stop }

  private var partial: [UInt8] = []
  /// Set after the first frame that can't be parsed: nothing later is looked at.
  public private(set) var hasFailed = false
  /// The frame that could not be parsed, for whoever inspects it: as much as came of it and belongs to it, as far as
  /// that can be told.
  public private(set) var malformedFrame: [UInt8] = []

  /// Bytes at the end of the last input that were not looked at, as the one before them was the last.
  public private(set) var unread = 0

  public init() {}

  /// Bytes held of a frame that has not come whole.
  public var heldBytes: Int { partial.count }
  /// The beginning of a frame that has not come whole.
  public var held: [UInt8] { partial }

  /// Takes the next bytes and hands over each whole notification, in order, until `body` says stop.
  ///
  /// Returns the parse failure, with the identifier if it was read before, for the error packet. After a failure or a
  /// stop the decoder ignores all further input (`Documentation/binary-protocol.md#error-packet`: everything after the
  /// reported frame is discarded).
  @inlinable @inline(__always)
  public mutating func receive(_ bytes: Span<UInt8>, _ body: (LegacyNotification) -> Next)
    -> LegacyParseFailure?
  {
    var position = 0
    if holdsPartial {
      switch completePartial(with: bytes, &position, body) {
      case .goOn: break
      case .stop: return leave(bytes.count &- position)
      case .failed(let failure): return failure
      }
    }
    while position < bytes.count {
      let input = bytes.dropping(position)
      guard let notification = LegacyFrameParser.usual(input) else {
        switch receiveUnusual(input, &position, body) {
        case .goOn: continue
        case .stop: return leave(bytes.count &- position)
        case .failed(let failure): return failure
        }
      }
      position &+= notification.frame.count
      guard body(notification) == .goOn else {
        fail()
        return leave(bytes.count &- position)
      }
    }
    return nil
  }

  public enum Step {
    case goOn, stop
    case failed(LegacyParseFailure)
  }

  public var holdsPartial: Bool { !partial.isEmpty || hasFailed }

  /// Takes the frame at the beginning of the input, which may be any, or what is there of it; adds what it has taken to
  /// `position`.
  public mutating func receiveUnusual(
    _ input: Span<UInt8>, _ position: inout Int, _ body: (LegacyNotification) -> Next
  ) -> Step {
    switch LegacyFrameParser.next(in: input) {
    case .needsMore:
      partial = Array(input)
      position += input.count
    case .notification(let notification):
      position += notification.frame.count
      if body(notification) == .goOn { return .goOn }
      fail()
    case .malformed(let failure):
      malformedFrame = Array(input.prefix(LegacyFrameParser.malformedExtent(of: input)))
      fail()
      return .failed(failure)
    }
    return .stop
  }

  /// Adds input from `position` on to the held frame until it is whole: first to its length fields, then to its end.
  public mutating func completePartial(
    with input: Span<UInt8>, _ position: inout Int, _ body: (LegacyNotification) -> Next
  ) -> Step {
    while !hasFailed {
      guard let missing else { return finishPartial(body) }
      guard position < input.count else { return .stop }
      let taken = input.dropping(position).prefix(missing)
      partial.append(taken)
      position += taken.count
    }
    return .stop
  }

  /// How many bytes the held frame needs at least; nil if it is whole, or malformed.
  private var missing: Int? {
    if case .needsMore(let missing) = LegacyFrameParser.next(in: partial.span) { missing } else { nil }
  }

  private mutating func finishPartial(_ body: (LegacyNotification) -> Next) -> Step {
    let whole = partial
    partial = []
    var position = 0
    return receiveUnusual(whole.span, &position, body)
  }

  /// Stops before the rest of the input, of so many bytes.
  public mutating func leave(_ rest: Int) -> LegacyParseFailure? {
    unread = hasFailed ? rest : 0
    return nil
  }

  public mutating func fail() {
    hasFailed = true
    partial = []
  }
}

/// Reads single frames of the binary protocol (`Documentation/binary-protocol.md#frames`). Keeps nothing.
public enum LegacyFrameParser {
  /// What stands at the beginning of some bytes.
  public enum Outcome: ~Escapable {
    /// So many bytes at least, as far as its length can be told.
    case needsMore(Int)
    case notification(LegacyNotification)
    case malformed(LegacyParseFailure)
  }

  /// Reads the frame at the beginning of `bytes`, which must not be empty.
  @_lifetime(copy bytes)
  public static func next(in bytes: Span<UInt8>) -> Outcome {
    if let notification = usual(bytes) { return .notification(notification) }
    guard let first = bytes.first else { return .needsMore(1) }
    switch LegacyCommand(rawValue: first) {
    case .frame: return frame(bytes)
    case .simple: return fixed(bytes, .simple, tokenAt: 1)
    case .enhanced: return fixed(bytes, .enhanced, tokenAt: 9)
    case nil:
      return .malformed(LegacyParseFailure(code: .unknownCommand(first), identifier: 0, command: first))
    }
  }

  /// How many of the bytes make up the malformed frame at their beginning. Where its own length can't be believed there
  /// is no telling, and a little of what follows says what the sender meant.
  static func malformedExtent(of bytes: Span<UInt8>) -> Int {
    guard bytes.first == LegacyCommand.frame.rawValue, bytes.count >= 5, frameLengthIsPossible(word(bytes, 1))
    else { return min(bytes.count, LegacyLimits.keptOfMalformed) }
    return min(bytes.count, 5 + Int(word(bytes, 1)))
  }

  // MARK: Commands 0 and 1

  @_lifetime(copy bytes)
  static func fixed(_ bytes: Span<UInt8>, _ command: LegacyCommand, tokenAt start: Int) -> Outcome {
    let tokenStart = start + 2
    guard bytes.count >= tokenStart else { return .needsMore(tokenStart - bytes.count) }
    let tokenEnd = tokenStart + half(bytes, start)
    let payloadStart = tokenEnd + 2
    guard bytes.count >= payloadStart else { return .needsMore(payloadStart - bytes.count) }
    let payloadEnd = payloadStart + half(bytes, tokenEnd)
    guard bytes.count >= payloadEnd else { return .needsMore(payloadEnd - bytes.count) }
    var notification = LegacyNotification(
      command: command, frame: bytes.prefix(payloadEnd), token: bytes.extracting(tokenStart..<tokenEnd),
      payload: bytes.extracting(payloadStart..<payloadEnd))
    if command == .enhanced {
      notification.identifier = word(bytes, 1)
      notification.expiration = word(bytes, 5)
    }
    return .notification(notification)
  }

  // MARK: Command 2

  static func frameLengthIsPossible(_ length: UInt32) -> Bool {
    length > 0 && Int(length) <= LegacyLimits.frameBody
  }

  @_lifetime(copy bytes)
  static func frame(_ bytes: Span<UInt8>) -> Outcome {
    guard bytes.count >= 5 else { return .needsMore(5 - bytes.count) }
    let length = word(bytes, 1)
    guard frameLengthIsPossible(length) else { return .malformed(failure(.frameLength(length), 0)) }
    let end = 5 + Int(length)
    guard bytes.count >= end else { return .needsMore(end - bytes.count) }
    return items(bytes.prefix(end))
  }

  /// Reads a whole frame of command 2 that is laid out as nearly all clients do it: every item once, in the order of their ids, with a
  /// token of 32 bytes. nil for any other, which may be as good. Item by item is 33 instructions for each of five items; this and
  /// writing the record in its place saved a tenth of the instructions of a push that is kept.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  static func usual(_ bytes: Span<UInt8>) -> LegacyNotification? {
    guard bytes.count > 61, bytes[0] == LegacyCommand.frame.rawValue, word(bytes, 5) >> 8 == 0x01_0020,
      bytes[40] == LegacyItem.payload
    else { return nil }
    let length = half(bytes, 41)
    let rest = 43 &+ length
    guard bytes.count >= rest &+ 18, word(bytes, 1) == UInt32(truncatingIfNeeded: rest &+ 13),
      word(bytes, rest) >> 8 == 0x03_0004, word(bytes, rest &+ 7) >> 8 == 0x04_0004
    else { return nil }
    let priority: Priority
    switch word(bytes, rest &+ 14) {
    case 0x0500_010a: priority = .immediate
    case 0x0500_0105: priority = .conserving
    default: return nil
    }
    return LegacyNotification(
      command: .frame, frame: bytes.prefix(rest &+ 18), token: bytes.extracting(8..<40),
      payload: bytes.extracting(43..<rest), identifier: word(bytes, rest &+ 3),
      expiration: word(bytes, rest &+ 10), priority: priority, saysPriority: true)
  }

  @_lifetime(copy frame)
  static func items(_ frame: Span<UInt8>) -> Outcome {
    var items = LegacyItems(of: frame)
    var position = 5
    while position < frame.count {
      let left = frame.count - position
      guard left >= 3 else { return .malformed(failure(.truncatedItem(left: left), items.identifier)) }
      let id = frame[position]
      let length = half(frame, position + 1)
      guard length <= left - 3 else {
        return .malformed(
          failure(.itemOverruns(id: id, length: length, left: left - 3), items.identifier))
      }
      let start = position + 3
      position = start + length
      if let problem = items.take(id, start..<position) {
        return .malformed(failure(problem, items.identifier))
      }
    }
    return .notification(items.notification)
  }

  static func failure(_ code: LegacyParseFailure.Code, _ identifier: UInt32) -> LegacyParseFailure {
    LegacyParseFailure(code: code, identifier: identifier, command: LegacyCommand.frame.rawValue)
  }

  // MARK: Integers, big endian

  @inlinable @inline(__always)
  static func half(_ bytes: Span<UInt8>, _ position: Int) -> Int {
    Int(bytes.bigEndian(UInt16.self, at: position))
  }

  @inlinable @inline(__always)
  static func word(_ bytes: Span<UInt8>, _ position: Int) -> UInt32 {
    bytes.bigEndian(UInt32.self, at: position)
  }
}

/// What was read of a command 2 frame so far. Plain fields and a set of bits instead of optionals, so that they keep to
/// registers.
struct LegacyItems: ~Escapable {
  private let frame: Span<UInt8>
  /// Bit n: item n was there.
  private var seen: UInt8 = 0
  private var priority = Priority.immediate
  private(set) var identifier: UInt32 = 0
  private var expiration: UInt32 = 0
  private var token = 0..<0
  private var payload = 0..<0

  @_lifetime(copy frame)
  init(of frame: Span<UInt8>) { self.frame = frame }

  private func has(_ id: UInt8) -> Bool { seen & 1 &<< id != 0 }

  /// Takes an item, whose value lies at `place`.
  mutating func take(_ id: UInt8, _ place: Range<Int>) -> LegacyParseFailure.Code? {
    guard id >= LegacyItem.token, id <= LegacyItem.priority else { return .unknownItem(id) }
    guard !has(id) else { return .duplicateItem(id) }
    seen |= 1 &<< id
    switch id {
    case LegacyItem.token: token = place
    case LegacyItem.payload: payload = place
    case LegacyItem.identifier:
      guard place.count == 4 else { return .itemLength(id: id, length: place.count) }
      identifier = LegacyFrameParser.word(frame, place.lowerBound)
    case LegacyItem.expiration:
      guard place.count == 4 else { return .itemLength(id: id, length: place.count) }
      expiration = LegacyFrameParser.word(frame, place.lowerBound)
    default:
      guard place.count == 1 else { return .itemLength(id: id, length: place.count) }
      // Only these exist on this interface.
      switch frame[place.lowerBound] {
      case 10: priority = .immediate
      case 5: priority = .conserving
      case let other: return .priority(other)
      }
    }
    return nil
  }

  var notification: LegacyNotification {
    @_lifetime(copy self)
    get {
      LegacyNotification(
        command: .frame, frame: frame, token: has(LegacyItem.token) ? frame.extracting(token) : nil,
        payload: has(LegacyItem.payload) ? frame.extracting(payload) : nil, identifier: identifier,
        expiration: has(LegacyItem.expiration) ? expiration : nil, priority: priority,
        saysPriority: has(LegacyItem.priority))
    }
  }
}

/// The checks inside a parsed frame, in the order of `Documentation/binary-protocol.md#checks`: token missing (2),
/// token size (5), payload missing (4), payload size (7). Whether the token is known (8) is the broker's.
public enum LegacyCheck {
  /// The first rule that `notification` breaks, or nil.
  @inlinable
  public static func rejection(_ notification: LegacyNotification, _ limits: LegacyLimits) -> Rejection? {
    let tokenLength = notification.token?.count ?? 0
    guard tokenLength > 0 else { return .missingDeviceToken }
    guard limits.tokenLengths.contains(tokenLength) else { return .invalidTokenSize }
    let payloadLength = notification.payload?.count ?? 0
    guard payloadLength > 0 else { return .payloadEmpty }
    guard payloadLength <= limits.payload else { return .payloadTooLarge }
    return nil
  }

  /// The identifier that the error packet carries: the notification's own, except 0 for an empty token item.
  public static func reportedIdentifier(
    _ notification: LegacyNotification, _ rejection: Rejection, _ limits: LegacyLimits
  ) -> UInt32 {
    let isEmptyItem = rejection == .missingDeviceToken && notification.token != nil
    return isEmptyItem && limits.forgetsIdentifierOfEmptyToken ? 0 : notification.identifier
  }
}
