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
  @frozen
  public enum Next { case goOn, stop }

  private var partial: [UInt8] = []
  /// Set after the first frame that can't be parsed: nothing later is looked at.
  public private(set) var hasFailed = false
  /// The frame that could not be parsed, for whoever inspects it: as much as came of it and belongs to it, as far as
  /// that can be told.
  public private(set) var malformedFrame: [UInt8] = []

  public init() {}

  /// Bytes held of a frame that has not come whole.
  public var heldBytes: Int { partial.count }

  /// Takes the next bytes and hands over each whole notification, in order, until `body` says stop.
  ///
  /// Returns the parse failure, with the identifier if it was read before, for the error packet. After a failure or a
  /// stop the decoder ignores all further input (`Documentation/binary-protocol.md#error-packet`: everything after the
  /// reported frame is thrown away).
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
      case .stop: return nil
      case .failed(let failure): return failure
      }
    }
    while !input.isEmpty {
      guard let notification = LegacyFrameParser.usual(input) else {
        switch receiveUnusual(&input, body) {
        case .goOn: continue
        case .stop: return nil
        case .failed(let failure): return failure
        }
      }
      input = UnsafeRawBufferPointer(rebasing: input[notification.frame.count...])
      if let token = LegacyFrameParser.tokenAfterNext(input) { ahead(token) }
      guard body(notification) == .goOn else {
        fail()
        return nil
      }
    }
    return nil
  }

  @usableFromInline enum Step {
    case goOn, stop
    case failed(LegacyParseFailure)
  }

  @usableFromInline var holdsPartial: Bool { !partial.isEmpty || hasFailed }

  /// Takes the frame at the beginning of the input, which may be any, or what is there of it.
  @usableFromInline
  mutating func receiveUnusual(
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
  @usableFromInline
  mutating func completePartial(
    with input: inout UnsafeRawBufferPointer, _ body: (LegacyNotification) -> Next
  ) -> Step {
    while !hasFailed {
      let missing = partial.withUnsafeBytes { LegacyFrameParser.bytesMissing(in: $0) }
      guard missing > 0 else { return finishPartial(body) }
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

  @usableFromInline
  mutating func fail() {
    hasFailed = true
    partial = []
  }
}
