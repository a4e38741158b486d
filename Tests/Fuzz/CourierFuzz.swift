import Basics
import CourierWire
import PushModel

/// The courier's decoder in any segmentation, and both halves of its session behind it.
struct CourierFuzz: FuzzTarget {
  private static let limit = 65_536
  private let now = Instant(nanoseconds: 5_000_000_000)
  private let token = DeviceToken(bytes: [UInt8](repeating: 7, count: 32))

  func take(_ input: UnsafeRawBufferPointer) {
    precondition(frames([input]) == frames(pieces(of: input)))
    precondition(unpacked([input]) == unpacked(pieces(of: input)))
    serve(input)
    follow(input)
  }

  private func pieces(of input: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
    var pieces: [UnsafeRawBufferPointer] = []
    input.forEachPiece { pieces.append($0) }
    return pieces
  }

  /// Each frame as bytes; one with nothing in it for a failure.
  private func frames(_ pieces: [UnsafeRawBufferPointer]) -> [[UInt8]] {
    var decoder = CourierDecoder()
    var frames: [[UInt8]] = []
    for piece in pieces {
      var input = piece.span
      do {
        while let frame = try decoder.next(&input, limit: Self.limit, { [$0.commandByte] + Array($0.body) }) {
          frames.append(frame)
        }
      } catch {
        return frames + [[]]
      }
      precondition(decoder.heldByteCount <= 2 * (Self.limit + 5))
    }
    return frames
  }

  /// The same in the packed form.
  private func unpacked(_ pieces: [UnsafeRawBufferPointer]) -> [PackDecoder.Command?] {
    var decoder = PackDecoder()
    var commands: [PackDecoder.Command?] = []
    for piece in pieces {
      var input = piece.span
      do {
        while let command = try decoder.next(&input, limit: Self.limit) {
          precondition(command.body.count <= Self.limit)
          commands.append(command)
        }
      } catch {
        return commands + [nil]
      }
    }
    return commands
  }

  private func serve(_ input: UnsafeRawBufferPointer) {
    var decoder = CourierDecoder()
    var session = CourierServerSession(acceptedAt: now)
    var rest = input.span
    guard session.bytesReceived(input.count) == nil else { return }
    while let action = try? decoder.next(
      &rest, limit: session.frameLimit, { session.frameReceived($0, at: now) })
    {
      answer(action, &session)
    }
  }

  /// As the emulator does, with every device let in.
  private func answer(_ action: CourierServerSession.FrameAction, _ session: inout CourierServerSession) {
    guard let token else { return }
    switch action {
    case .verify(let request):
      _ = session.identityAccepted(
        request, baseToken: request.baseToken ?? token, tokenWasKnown: request.baseToken != nil, at: now,
        date: Timestamp(seconds: 1_700_000_000))
    default: break
    }
  }

  private func follow(_ input: UnsafeRawBufferPointer) {
    var decoder = CourierDecoder()
    var session = CourierClientSession()
    var rest = input.span
    while (try? decoder.next(&rest, limit: Self.limit, { session.frameReceived($0, at: now) })) != nil {}
  }
}
