import PushModel

/// Reads single frames of the binary interface (`Documentation/binary-protocol.md#frames`). Keeps nothing.
public enum LegacyFrameParser {
  /// What stands at the beginning of some bytes.
  @frozen
  public enum Outcome {
    case needsMore
    case notification(LegacyNotification)
    case malformed(LegacyParseFailure)
  }

  /// Reads the frame at the beginning of `bytes`, which must not be empty.
  @inlinable
  public static func next(in bytes: UnsafeRawBufferPointer) -> Outcome {
    guard let first = bytes.first else { return .needsMore }
    switch LegacyCommand(rawValue: first) {
    case .frame: return frame(bytes)
    case .simple: return fixed(bytes, .simple, tokenAt: 1)
    case .enhanced: return fixed(bytes, .enhanced, tokenAt: 9)
    case nil: return .malformed(LegacyParseFailure(.unknownCommand(first), identifier: 0, command: first))
    }
  }

  /// How many bytes a cut frame lacks before more can be said about it; 0 when it can be parsed (or refused) now.
  static func bytesMissing(in bytes: UnsafeRawBufferPointer) -> Int {
    guard let first = bytes.first, let command = LegacyCommand(rawValue: first) else { return 0 }
    switch command {
    case .frame:
      guard bytes.count >= 5 else { return 5 - bytes.count }
      let length = word(bytes, 1)
      return frameLengthIsPossible(length) ? max(0, 5 + Int(length) - bytes.count) : 0
    case .simple: return missingOfFixed(bytes, tokenAt: 1)
    case .enhanced: return missingOfFixed(bytes, tokenAt: 9)
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

  private static func missingOfFixed(_ bytes: UnsafeRawBufferPointer, tokenAt start: Int) -> Int {
    guard bytes.count >= start + 2 else { return start + 2 - bytes.count }
    let payloadLengthEnd = start + 2 + half(bytes, start) + 2
    guard bytes.count >= payloadLengthEnd else { return payloadLengthEnd - bytes.count }
    return max(0, payloadLengthEnd + half(bytes, payloadLengthEnd - 2) - bytes.count)
  }

  @inlinable
  static func fixed(_ bytes: UnsafeRawBufferPointer, _ command: LegacyCommand, tokenAt start: Int) -> Outcome
  {
    guard bytes.count >= start + 2 else { return .needsMore }
    let tokenStart = start + 2
    let tokenEnd = tokenStart + half(bytes, start)
    guard bytes.count >= tokenEnd + 2 else { return .needsMore }
    let payloadStart = tokenEnd + 2
    let payloadEnd = payloadStart + half(bytes, tokenEnd)
    guard bytes.count >= payloadEnd else { return .needsMore }
    var notification = LegacyNotification(
      command: command, frame: UnsafeRawBufferPointer(rebasing: bytes[..<payloadEnd]))
    notification.token = UnsafeRawBufferPointer(rebasing: bytes[tokenStart..<tokenEnd])
    notification.payload = UnsafeRawBufferPointer(rebasing: bytes[payloadStart..<payloadEnd])
    if command == .enhanced {
      notification.identifier = word(bytes, 1)
      notification.expiration = word(bytes, 5)
    }
    return .notification(notification)
  }

  // MARK: Command 2

  @inlinable
  static func frameLengthIsPossible(_ length: UInt32) -> Bool {
    length > 0 && Int(length) <= LegacyLimits.frameBody
  }

  @inlinable
  static func frame(_ bytes: UnsafeRawBufferPointer) -> Outcome {
    guard bytes.count >= 5 else { return .needsMore }
    let length = word(bytes, 1)
    guard frameLengthIsPossible(length) else {
      return .malformed(
        LegacyParseFailure(.frameLength(length), identifier: 0, command: LegacyCommand.frame.rawValue))
    }
    let end = 5 + Int(length)
    guard bytes.count >= end else { return .needsMore }
    return items(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
  }

  @inlinable
  static func items(_ frame: UnsafeRawBufferPointer) -> Outcome {
    var notification = LegacyNotification(command: .frame, frame: frame)
    var seen: UInt8 = 0
    var position = 5
    while position < frame.count {
      let left = frame.count - position
      guard left >= 3 else { return malformed(.truncatedItem(left: left), notification) }
      let id = frame[position]
      let length = half(frame, position + 1)
      guard length <= left - 3 else {
        return malformed(.itemOverruns(id: id, length: length, left: left - 3), notification)
      }
      position += 3
      if let problem = read(id, frame, position, length, &seen, &notification) {
        return malformed(problem, notification)
      }
      position += length
    }
    return .notification(notification)
  }

  @inlinable
  static func read(
    _ id: UInt8, _ frame: UnsafeRawBufferPointer, _ position: Int, _ length: Int, _ seen: inout UInt8,
    _ notification: inout LegacyNotification
  ) -> LegacyParseFailure.Code? {
    guard id >= LegacyItem.token, id <= LegacyItem.priority else { return .unknownItem(id) }
    let bit = 1 &<< id
    guard seen & bit == 0 else { return .duplicateItem(id) }
    seen |= bit
    let value = UnsafeRawBufferPointer(rebasing: frame[position..<position + length])
    switch id {
    case LegacyItem.token: notification.token = value
    case LegacyItem.payload: notification.payload = value
    case LegacyItem.identifier:
      guard length == 4 else { return .itemLength(id: id, length: length) }
      notification.identifier = word(frame, position)
    case LegacyItem.expiration:
      guard length == 4 else { return .itemLength(id: id, length: length) }
      notification.expiration = word(frame, position)
    default:
      guard length == 1 else { return .itemLength(id: id, length: length) }
      guard let priority = legacyPriority(frame[position]) else { return .priority(frame[position]) }
      notification.priority = priority
    }
    return nil
  }

  /// Only 10 and 5 exist on this interface.
  @inlinable
  static func legacyPriority(_ byte: UInt8) -> Priority? {
    switch byte {
    case 10: .immediate
    case 5: .conserving
    default: nil
    }
  }

  @inlinable
  static func malformed(_ code: LegacyParseFailure.Code, _ notification: LegacyNotification) -> Outcome {
    .malformed(
      LegacyParseFailure(
        code, identifier: notification.identifier, command: notification.command.rawValue))
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
