import Credentials
import ProviderAPI
import Transport

/// What an operator may change about the HTTP/2 provider API.
public struct ProviderOptions: Sendable {
  public var checks = ProviderCheckOptions()
  public var binding = ProviderConnectionBinding.Options()
  /// Lower the stream limit to 1 after a rejection, as Apple does (`spec/provider-protocol.md` D.1, K 14).
  public var throttlesRejections = false
  /// Pushes a second that one device token takes before `TooManyRequests`; nil for any number (K 13).
  public var floodLimit: Int?
  /// How long a connection may be idle before GOAWAY `IdleTimeout`, in seconds; nil for ever (K 11).
  public var idleSeconds: Int64?
  public var http2 = HTTP2Options()

  public init() {}
}
