import Basics
import ProviderAPI
import PushModel
import Transport

/// The HTTP/2 session with the provider checks behind it: any bytes after the preface, in any segmentation, give each
/// request exactly one answer, and bounded output.
struct HTTP2Fuzz: FuzzTarget {
  /// Output that one input may cause, in bytes: acknowledgements and answers are small.
  private static let outputLimit = 4 << 20
  /// RFC 9113 3.4.
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  func take(_ input: UnsafeRawBufferPointer) {
    guard let session = HTTP2ServerSession() else { return }
    let directory = AnyDevices()
    let check = ProviderRequestCheck(
      identity: .token(AnyTokens()), environment: .sandbox, directory: directory,
      apnsIDs: APNSIDGenerator(seed: 1))
    var sent = 0
    Self.preface.withUnsafeBytes { feed($0, session, check, &sent) }
    input.forEachPiece { feed($0, session, check, &sent) }
    precondition(sent < Self.outputLimit)
  }

  private func feed(
    _ piece: UnsafeRawBufferPointer, _ session: HTTP2ServerSession, _ check: ProviderRequestCheck,
    _ sent: inout Int
  ) {
    guard !session.isFinished, case .taken = session.receive(piece.span) else { return }
    while let request = session.nextRequest() { answer(request, session, check) }
    sent += session.drainOutput { _ in }
  }

  private func answer(_ request: HTTP2Request, _ session: HTTP2ServerSession, _ check: ProviderRequestCheck) {
    switch check.judge(request.message, now: Timestamp(seconds: 1_700_000_000)) {
    case .accepted(let accepted):
      session.respond(to: request, with: HTTP2Response(status: 200, apnsID: accepted.apnsID))
    case .rejected(let rejected):
      session.respond(
        to: request,
        with: HTTP2Response(
          status: rejected.rejection.status, apnsID: rejected.apnsID, body: rejected.body))
    }
  }
}

/// A token map in which every token is good.
private final class AnyDevices: DeviceDirectory {
  func name(of topic: TopicID) -> String { "com.example.other" }
  func handle(of topic: Topic) -> TopicID? { TopicID(0) }
  func standing(
    of token: DeviceToken, topic: TopicID?, environment: Environment, now: Timestamp
  ) -> DeviceTokenStanding { .active(RegistrationID(0)) }
  func isCurrent(_ handle: TopicID) -> Bool { true }
  func isFlooded(_ token: DeviceToken) -> Bool { false }
  func token(spelled digits: Span<UInt8>) -> DeviceToken? { nil }
  func problem(
    ofUnknown token: DeviceToken, spelled digits: Span<UInt8>, topic: TopicID?, team: String?
  ) -> Phrase? { "one that was never issued" }
}

/// Takes every provider token.
private final class AnyTokens: ProviderTokenChecking {
  private let grant = ProviderGrant(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
  func check(_ token: Span<UInt8>, now: Timestamp) -> ProviderTokenVerdict { .granted(grant) }
}
