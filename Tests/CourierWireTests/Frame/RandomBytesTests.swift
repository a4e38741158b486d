import Basics
import CourierWire
import Testing

/// Whatever a peer sends: no trap, no unbounded memory, and the same result in any segmentation.
@Suite("Random bytes")
struct RandomBytesTests {
  private let start = Instant(nanoseconds: 5_000_000_000)

  @Test("pure noise, and examples with a few bytes changed, cut in any way", arguments: 0..<40)
  func anything(seed: UInt64) {
    var random = SeededChoices(seed: seed)
    for _ in 0..<100 {
      let stream = Bool.random(using: &random) ? noise(&random) : damaged(&random)
      let whole = outcome(of: [stream[...]])
      #expect(outcome(of: cut(stream, &random)) == whole)
      feedServer(cut(stream, &random))
      feedClient(cut(stream, &random))
      readEverything(stream)
    }
  }

  private func noise(_ random: inout SeededChoices) -> [UInt8] {
    (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
  }

  private func damaged(_ random: inout SeededChoices) -> [UInt8] {
    var stream = Array(Vectors.all.shuffled(using: &random).prefix(3).joined())
    for _ in 0..<Int.random(in: 0..<4, using: &random) {
      guard let index = stream.indices.randomElement(using: &random) else { continue }
      stream[index] = UInt8.random(in: 0...255, using: &random)
    }
    return stream
  }

  private func cut(_ stream: [UInt8], _ random: inout SeededChoices) -> [ArraySlice<UInt8>] {
    var pieces: [ArraySlice<UInt8>] = []
    var rest = stream[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...min(rest.count, 64), using: &random)
      pieces.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return pieces
  }

  private struct Outcome: Equatable {
    var frames: [CopiedFrame] = []
    var error: CourierProtocolError?
  }

  private func outcome(of pieces: [ArraySlice<UInt8>]) -> Outcome {
    var decoder = CourierDecoder()
    var outcome = Outcome()
    for piece in pieces {
      var input = piece.span
      do throws(CourierProtocolError) {
        while let frame = try decoder.next(&input, limit: 1000, { CopiedFrame($0) }) {
          outcome.frames.append(frame)
        }
      } catch {
        outcome.error = error
      }
      #expect(decoder.heldByteCount <= 1005)
      if outcome.error != nil { break }
    }
    return outcome
  }

  private func feedServer(_ pieces: [ArraySlice<UInt8>]) {
    for state in CourierServerSessionTests.State.allCases {
      var session = CourierServerSessionTests.session(in: state)
      var decoder = CourierDecoder()
      for piece in pieces {
        guard session.bytesReceived(piece.count) == nil, !session.isClosed else { break }
        var input = piece.span
        do throws(CourierProtocolError) {
          while let action = try decoder.next(
            &input, limit: session.frameLimit, { session.frameReceived($0, at: start) })
          {
            if case .verify(let request) = action {
              _ = session.identityAccepted(
                request, baseToken: CourierServerSessionTests.baseToken, tokenWasKnown: true, at: start,
                date: CourierServerSessionTests.date)
            }
          }
        } catch {
          _ = session.decodingFailed(error)
        }
      }
      #expect(session.identities.count <= CourierLimits.identitiesPerConnection)
    }
  }

  private func feedClient(_ pieces: [ArraySlice<UInt8>]) {
    var session = CourierClientSession()
    _ = session.connect(ConnectRequest(), at: start)
    _ = session.receive(
      ConnectedResponse(status: 0, baseToken: nil, at: CourierServerSessionTests.date), at: start)
    var decoder = CourierDecoder()
    for piece in pieces where !session.isClosed {
      var input = piece.span
      do throws(CourierProtocolError) {
        while try decoder.next(&input, limit: 1000, { session.frameReceived($0, at: start) }) != nil {}
      } catch {
        _ = session.decodingFailed(error)
      }
    }
  }

  /// Every kind of value, from the same frame and whatever its command byte says; what can be read can be written and read again.
  private func readEverything(_ stream: [UInt8]) {
    guard stream.count > 5 else { return }
    let body = Array(stream[5...])
    readAll(CourierFrame(commandByte: stream[0], body: body.span))
    _ = try? ActivationRequest.parse(formBody: stream.span)
    _ = try? ActivationResponse.certificatePEM(in: stream.span)
  }

  private func readAll(_ frame: CourierFrame) {
    expectStable(ConnectRequest.self, frame)
    expectStable(ConnectedResponse.self, frame)
    expectStable(AppTokenRequest.self, frame)
    expectStable(CourierMessage.self, frame)
    expectStable(UpstreamMessage.self, frame)
    expectStable(Acknowledgement.self, frame)
    expectStable(KeepAlive.self, frame)
    expectStable(KeepAliveAnswer.self, frame)
    expectStable(NoStorage.self, frame)
    expectStable(SetState.self, frame)
    expectStable(AppStateChange.self, frame)
    expectStable(ChannelConfirmation.self, frame)
    _ = try? FilterUpdate(frame)
    _ = try? AppTokenResponse(frame)
    _ = try? ChannelSubscription(frame)
  }

  private func expectStable<Value: CourierCommandValue>(_: Value.Type, _ frame: CourierFrame) {
    guard let value = try? Value(frame) else { return }
    let again = try? parse(Value.self, value.encoded)
    #expect(again == value)
  }
}
