import Basics

/// Apple runs two separate push services; a token belongs to one of them.
public enum Environment: UInt8, Sendable, CaseIterable, Hashable, BitwiseCopyable {
  case sandbox = 0
  case production = 1

  /// `sandbox` or `production`, as in flags, files and the API. Spelled out: the language's own description of a case looks for
  /// conformances, which takes a tenth of the instructions of a start.
  public var name: String {
    switch self {
    case .sandbox: "sandbox"
    case .production: "production"
    }
  }

  /// Reads `sandbox` (or Apple's older `development`) and `production`; nil for anything else.
  public init?(name: String) {
    switch name {
    case "sandbox", "development": self = .sandbox
    case "production": self = .production
    default: return nil
    }
  }

  /// Apple's name for a service in it, as `api`, `gateway`, `feedback` or `courier`.
  public func host(of service: String) -> String {
    switch self {
    case .sandbox: "\(service).sandbox.push.apple.com"
    case .production: "\(service).push.apple.com"
    }
  }

  public var other: Environment { self == .sandbox ? .production : .sandbox }

  /// The environment that a TLS server name asks for, or nil if it names none of Apple's services
  /// (`Documentation/coverage.md#environments`): `*.sandbox.push.apple.com` and the old `*.development.push.apple.com`
  /// are the sandbox, every other name below `push.apple.com` is production.
  public init?(serverName: String) {
    let name = serverName.lowercased()
    guard name.hasSuffix(".push.apple.com") else { return nil }
    let isSandbox = name.hasSuffix(".sandbox.push.apple.com") || name.hasSuffix(".development.push.apple.com")
    self = isSandbox ? .sandbox : .production
  }
}

/// Where a provider's notification came in.
public enum Interface: UInt8, Sendable, CaseIterable, Hashable, BitwiseCopyable {
  /// The gateway for the binary protocol.
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

/// How urgently a notification goes out (`Documentation/binary-protocol.md#limits`,
/// `Documentation/provider-api.md#request`).
public enum Priority: UInt8, Sendable, CaseIterable, Hashable, BitwiseCopyable {
  /// Power above all; never wakes the device. HTTP/2 only.
  case low = 1
  /// At a moment that spares the battery.
  case conserving = 5
  /// At once.
  case immediate = 10

  /// Marks in a byte that the provider named none.
  public static var unsaid: UInt8 { 0x80 }

  /// In a byte, with whether the provider named it.
  @inlinable @inline(__always)
  public func byte(isSaid: Bool) -> UInt8 { isSaid ? rawValue : rawValue | Self.unsaid }

  /// Reads that byte; nil for one that is none.
  @inlinable @inline(__always)
  public static func read(_ byte: UInt8) -> (priority: Priority, isSaid: Bool)? {
    Priority(rawValue: byte & ~unsaid).map { ($0, byte & unsaid == 0) }
  }
}
