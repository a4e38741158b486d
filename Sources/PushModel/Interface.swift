/// Where a provider's notification came in.
@frozen
public enum Interface: UInt8, Sendable, CaseIterable, Hashable {
  /// The legacy binary gateway.
  case gateway = 0
  /// The HTTP/2 provider API.
  case provider = 1
  /// Plain HTTP/1.1 on the console.
  case console = 2

  /// The word used in the API and in logs.
  public var name: String {
    switch self {
    case .gateway: "gateway"
    case .provider: "provider"
    case .console: "console"
    }
  }
}
