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
  @frozen public enum Next { case goOn, stop }

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
  ///
  /// `ahead` hears, before `body`, where the token of the notification behind the next one probably lies: 32 bytes.
  @inlinable @inline(__always)
  public mutating func receive(
    _ bytes: UnsafeRawBufferPointer, ahead: (UnsafeRawPointer) -> Void = { _ in },
    _ body: (LegacyNotification) -> Next
  ) -> LegacyParseFailure? {
    var input = bytes
    if holdsPartial {
      switch completePartial(with: &input, body) {
      case .goOn: break
      case .stop: return leave(input)
      case .failed(let failure): return failure
      }
    }
    while !input.isEmpty {
      guard let notification = LegacyFrameParser.usual(input) else {
        switch receiveUnusual(&input, body) {
        case .goOn: continue
        case .stop: return leave(input)
        case .failed(let failure): return failure
        }
      }
      input = UnsafeRawBufferPointer(rebasing: input[notification.frame.count...])
      if let token = LegacyFrameParser.tokenAfterNext(input) { ahead(token) }
      guard body(notification) == .goOn else {
        fail()
        return leave(input)
      }
    }
    return nil
  }

  public enum Step {
    case goOn, stop
    case failed(LegacyParseFailure)
  }

  public var holdsPartial: Bool { !partial.isEmpty || hasFailed }

  /// Takes the frame at the beginning of the input, which may be any, or what is there of it.
  public mutating func receiveUnusual(
    _ input: inout UnsafeRawBufferPointer, _ body: (LegacyNotification) -> Next
  ) -> Step {
    switch LegacyFrameParser.next(in: input) {
    case .needsMore:
      partial = Array(input)
    case .notification(let notification):
      input = UnsafeRawBufferPointer(rebasing: input[notification.frame.count...])
      if body(notification) == .goOn { return .goOn }
      fail()
    case .malformed(let failure):
      malformedFrame = Array(input.prefix(LegacyFrameParser.malformedExtent(of: input)))
      fail()
      return .failed(failure)
    }
    return .stop
  }

  /// Adds input to the held frame until it is whole: first to its length fields, then to its end.
  public mutating func completePartial(
    with input: inout UnsafeRawBufferPointer, _ body: (LegacyNotification) -> Next
  ) -> Step {
    while !hasFailed {
      let outcome = partial.withUnsafeBytes { LegacyFrameParser.next(in: $0) }
      guard case .needsMore(let missing) = outcome else { return finishPartial(body) }
      guard !input.isEmpty else { return .stop }
      let taken = min(missing, input.count)
      partial.append(contentsOf: input[..<taken])
      input = UnsafeRawBufferPointer(rebasing: input[taken...])
    }
    return .stop
  }

  private mutating func finishPartial(_ body: (LegacyNotification) -> Next) -> Step {
    let whole = partial
    partial = []
    return whole.withUnsafeBytes { bytes in
      var frame = bytes
      return receiveUnusual(&frame, body)
    }
  }

  /// Stops before the rest of the input.
  public mutating func leave(_ rest: UnsafeRawBufferPointer) -> LegacyParseFailure? {
    unread = hasFailed ? rest.count : 0
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
  @frozen public enum Outcome {
    /// So many bytes at least, as far as its length can be told.
    case needsMore(Int)
    case notification(LegacyNotification)
    case malformed(LegacyParseFailure)
  }

  /// Reads the frame at the beginning of `bytes`, which must not be empty.
  public static func next(in bytes: UnsafeRawBufferPointer) -> Outcome {
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
  static func malformedExtent(of bytes: UnsafeRawBufferPointer) -> Int {
    guard bytes.first == LegacyCommand.frame.rawValue, bytes.count >= 5, frameLengthIsPossible(word(bytes, 1))
    else { return min(bytes.count, LegacyLimits.keptOfMalformed) }
    return min(bytes.count, 5 + Int(word(bytes, 1)))
  }

  // MARK: Commands 0 and 1

  static func fixed(_ bytes: UnsafeRawBufferPointer, _ command: LegacyCommand, tokenAt start: Int) -> Outcome
  {
    let tokenStart = start + 2
    guard bytes.count >= tokenStart else { return .needsMore(tokenStart - bytes.count) }
    let tokenEnd = tokenStart + half(bytes, start)
    let payloadStart = tokenEnd + 2
    guard bytes.count >= payloadStart else { return .needsMore(payloadStart - bytes.count) }
    let payloadEnd = payloadStart + half(bytes, tokenEnd)
    guard bytes.count >= payloadEnd else { return .needsMore(payloadEnd - bytes.count) }
    var notification = LegacyNotification(
      command: command, frame: UnsafeRawBufferPointer(rebasing: bytes[..<payloadEnd]),
      token: UnsafeRawBufferPointer(rebasing: bytes[tokenStart..<tokenEnd]),
      payload: UnsafeRawBufferPointer(rebasing: bytes[payloadStart..<payloadEnd]))
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

  static func frame(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    guard bytes.count >= 5 else { return .needsMore(5 - bytes.count) }
    let length = word(bytes, 1)
    guard frameLengthIsPossible(length) else {
      return malformed(.frameLength(length), 0)
    }
    let end = 5 + Int(length)
    guard bytes.count >= end else { return .needsMore(end - bytes.count) }
    return items(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
  }

  /// Reads a whole frame of command 2 that is laid out as nearly all clients do it: every item once, in the order of their ids, with a
  /// token of 32 bytes. nil for any other, which may be as good. Item by item is 33 instructions for each of five items; this and
  /// writing the record in its place saved a tenth of the instructions of a push that is kept.
  @inlinable @inline(__always)
  static func usual(_ bytes: UnsafeRawBufferPointer) -> LegacyNotification? {
    guard bytes.count > 61, let start = bytes.baseAddress, bytes[0] == LegacyCommand.frame.rawValue,
      word(bytes, 5) >> 8 == 0x01_0020, bytes[40] == LegacyItem.payload
    else { return nil }
    let length = half(bytes, 41)
    let rest = 43 + length
    guard bytes.count >= rest + 18, word(bytes, 1) == UInt32(truncatingIfNeeded: rest + 13),
      word(bytes, rest) >> 8 == 0x03_0004, word(bytes, rest + 7) >> 8 == 0x04_0004
    else { return nil }
    let priority: Priority
    switch word(bytes, rest + 14) {
    case 0x0500_010a: priority = .immediate
    case 0x0500_0105: priority = .conserving
    default: return nil
    }
    return LegacyNotification(
      command: .frame, frame: UnsafeRawBufferPointer(start: start, count: rest + 18),
      token: UnsafeRawBufferPointer(start: start + 8, count: 32),
      payload: UnsafeRawBufferPointer(start: start + 43, count: length), identifier: word(bytes, rest + 3),
      expiration: word(bytes, rest + 10), priority: priority, saysPriority: true)
  }

  /// Where the token of the frame behind the next one lies, if that is laid out as usual and its token is here; a guess that
  /// costs little, for whoever wants to have what belongs to it at hand.
  @inlinable @inline(__always)
  static func tokenAfterNext(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count > 48, let start = bytes.baseAddress else { return nil }
    let next = 5 + Int(word(bytes, 1))
    guard next + 40 <= bytes.count, word(bytes, next + 5) >> 8 == 0x01_0020 else { return nil }
    return start + next + 8
  }

  static func items(_ frame: UnsafeRawBufferPointer) -> Outcome {
    guard let start = frame.baseAddress else { return .needsMore(1) }
    var items = LegacyItems()
    var position = 5
    while position < frame.count {
      let left = frame.count - position
      guard left >= 3 else { return malformed(.truncatedItem(left: left), items.identifier) }
      let id = frame[position]
      let length = half(frame, position + 1)
      guard length <= left - 3 else {
        return malformed(.itemOverruns(id: id, length: length, left: left - 3), items.identifier)
      }
      let value = UnsafeRawBufferPointer(start: start + position + 3, count: length)
      if let problem = items.take(id, value) { return malformed(problem, items.identifier) }
      position += 3 + length
    }
    return .notification(items.notification(in: frame))
  }

  static func malformed(_ code: LegacyParseFailure.Code, _ identifier: UInt32) -> Outcome {
    .malformed(LegacyParseFailure(code: code, identifier: identifier, command: LegacyCommand.frame.rawValue))
  }

  // MARK: Integers, big endian

  @inlinable
  static func half(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> Int {
    Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt16.self)))
  }

  @inlinable
  static func word(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> UInt32 {
    UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
  }
}

/// What was read of a command 2 frame so far. Plain fields and a set of bits instead of optionals, so that they keep to
/// registers.
struct LegacyItems {
  /// Bit n: item n was there.
  var seen: UInt8 = 0
  var priority = Priority.immediate
  var identifier: UInt32 = 0
  var expiration: UInt32 = 0
  var token = UnsafeRawBufferPointer(start: nil, count: 0)
  var payload = UnsafeRawBufferPointer(start: nil, count: 0)

  func has(_ id: UInt8) -> Bool { seen & 1 &<< id != 0 }

  mutating func take(_ id: UInt8, _ value: UnsafeRawBufferPointer) -> LegacyParseFailure.Code? {
    guard id >= LegacyItem.token, id <= LegacyItem.priority else { return .unknownItem(id) }
    guard !has(id) else { return .duplicateItem(id) }
    seen |= 1 &<< id
    switch id {
    case LegacyItem.token: token = value
    case LegacyItem.payload: payload = value
    case LegacyItem.identifier:
      guard value.count == 4 else { return .itemLength(id: id, length: value.count) }
      identifier = LegacyFrameParser.word(value, 0)
    case LegacyItem.expiration:
      guard value.count == 4 else { return .itemLength(id: id, length: value.count) }
      expiration = LegacyFrameParser.word(value, 0)
    default:
      guard value.count == 1 else { return .itemLength(id: id, length: value.count) }
      // Only these exist on this interface.
      switch value[0] {
      case 10: priority = .immediate
      case 5: priority = .conserving
      case let other: return .priority(other)
      }
    }
    return nil
  }

  func notification(in frame: UnsafeRawBufferPointer) -> LegacyNotification {
    LegacyNotification(
      command: .frame, frame: frame, token: has(LegacyItem.token) ? token : nil,
      payload: has(LegacyItem.payload) ? payload : nil, identifier: identifier,
      expiration: has(LegacyItem.expiration) ? expiration : nil, priority: priority,
      saysPriority: has(LegacyItem.priority))
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
