import Credentials
import ProviderAPI
import PushModel
import Transport

/// What an operator may change about the HTTP/2 provider API.
public struct ProviderOptions: Sendable {
  public var checks = ProviderCheckOptions()
  public var binding = ProviderConnectionBinding.Options()
  /// Refuse provider tokens that Apple evidently serves but does not document: ES512 over P-256, `iat` as a string.
  public var documentedTokens = false
  /// Lower the stream limit to 1 after a rejection, as Apple does (`Documentation/provider-api.md#settings`,
  /// `#open-questions`).
  public var throttlesRejections = false
  /// Pushes a second that one device token takes before `TooManyRequests`; nil for any number
  /// (`Documentation/provider-api.md#open-questions`).
  public var floodLimit: Int?
  /// How long a connection may be idle before GOAWAY `IdleTimeout`, in seconds; nil for ever
  /// (`Documentation/provider-api.md#open-questions`).
  public var idleSeconds: Int64?
  /// How long a connection may go on with open requests after its GOAWAY, in nanoseconds. Apple's is not known
  /// (`Documentation/provider-api.md#settings`); a request under way is a few thousand bytes, so a client that means to
  /// end it has by then.
  public var goAwayPatience: Int64 = 10_000_000_000
  /// Bundle ids without the broadcast capability: `FeatureNotEnabled`
  /// (`Documentation/provider-api.md#channel-reasons`).
  public var withoutBroadcast: Set<Topic> = []
  /// Tell in a header field of each refusal which rule it was, what that expected and what came.
  public var explains = true
  public var http2 = HTTP2Options()

  public init() {}
}
