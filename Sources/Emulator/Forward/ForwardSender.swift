import Credentials
import Platform
import PushModel
import Transport

/// The way to the other service: its connection, provider tokens that are good there, and the pace that it wants.
final class ForwardSender {
  enum Sent {
    /// With the provider token of this number.
    case sent(tokenNumber: Int)
    /// The connection takes no more; the next may.
    case connectionIsOver
    /// There is no provider token, and a pause until one is tried again.
    case unsigned
  }

  private let client: UpstreamClient
  private let records: ForwardRecords
  private var tokens: ProviderTokenSource
  private var pace: ForwardPace

  init(_ client: UpstreamClient, _ signer: ProviderTokenSigner, _ records: ForwardRecords, seed: UInt64) {
    (self.client, self.records) = (client, records)
    tokens = ProviderTokenSource { try signer.token(at: $0) }
    pace = ForwardPace(seed: seed)
  }

  func send(_ push: ForwardPush, on upstream: HTTP2ClientConnection) -> Sent {
    do {
      let token = try tokens.token(now: Self.worldTime)
      let head = push.head(authority: client.authority, providerToken: token)
      let context = Int(truncatingIfNeeded: push.id)
      if upstream.send(head, path: push.path, body: push.payload, context: context) {
        return .sent(tokenNumber: tokens.number)
      }
      // Its stream numbers are used up, or it has failed.
      client.leaveCurrent()
      return .connectionIsOver
    } catch {
      records.complain("no provider token can be made", "\(error)")
      _ = pace.pause(now: SystemClock.monotonicNanoseconds())
      return .unsigned
    }
  }

  /// What provider tokens are judged by (`ProviderTokenSource`).
  private static var worldTime: Timestamp { Timestamp(nanoseconds: SystemClock.wallNanoseconds()) }

  /// The other service says that the provider token of a push has expired; answers whether there is a newer one to try. A
  /// connection on which one has expired stays of no use (`Documentation/provider-api.md#renewal`).
  func tokenExpired(of push: ForwardPush) -> Bool {
    if push.tokenNumber < tokens.number { return true }
    guard (try? tokens.expired(now: Self.worldTime)) == true else { return false }
    client.leaveCurrent()
    return true
  }

  // MARK: Pace

  func isPaused(_ now: Int64) -> Bool { pace.isPaused(now) }

  /// The other service is busy with everything; `answer` is what it said.
  func pause(because answer: String) {
    if let wait = pace.pause(now: SystemClock.monotonicNanoseconds()) { records.noteBusy(answer, wait: wait) }
  }

  /// When to try one again that has failed so often.
  func retryTime(after failures: Int) -> Int64 {
    pace.retry(after: failures, now: SystemClock.monotonicNanoseconds())
  }

  func nextLook(at queue: ForwardQueue, now: Int64) -> Int64? { pace.nextLook(at: queue, now: now) }

  func noteSuccess() {
    pace.noteSuccess()
    records.noteSuccess()
  }
}
