import Basics

/// The header fields that the provider API reads or writes (`Documentation/provider-api.md#request`, `#response`,
/// `#channel-management`, `#broadcast`), with HTTP/2's pseudo-fields. Both transports and the checks share this table.
public enum ProviderField: UInt8, CaseIterable, Sendable, Hashable {
  case method = 0, scheme, authority, path, status
  case authorization, contentType
  case apnsId, apnsUniqueId, apnsTopic, apnsPushType, apnsPriority, apnsExpiration, apnsCollapseId
  case apnsRequestId, apnsChannelId

  /// The name in lower case, as HTTP/2 requires.
  @inlinable public var name: StaticString {
    switch self {
    case .method: ":method"
    case .scheme: ":scheme"
    case .authority: ":authority"
    case .path: ":path"
    case .status: ":status"
    case .authorization: "authorization"
    case .contentType: "content-type"
    case .apnsId: "apns-id"
    case .apnsUniqueId: "apns-unique-id"
    case .apnsTopic: "apns-topic"
    case .apnsPushType: "apns-push-type"
    case .apnsPriority: "apns-priority"
    case .apnsExpiration: "apns-expiration"
    case .apnsCollapseId: "apns-collapse-id"
    case .apnsRequestId: "apns-request-id"
    case .apnsChannelId: "apns-channel-id"
    }
  }

  /// Recognises a lower-case name; nil for one that APNs ignores. Length and one byte leave a single candidate.
  @inlinable
  public init?(lowercaseName name: Span<UInt8>) {
    let candidate: ProviderField
    switch name.count {
    case 5: candidate = .path
    case 7:
      switch name[1] {
      case UInt8(ascii: "m"): candidate = .method
      case UInt8(ascii: "p"): candidate = .apnsId
      case UInt8(ascii: "s") where name[2] == UInt8(ascii: "c"): candidate = .scheme
      default: candidate = .status
      }
    case 10: candidate = name[0] == UInt8(ascii: ":") ? .authority : .apnsTopic
    case 12: candidate = .contentType
    case 13: candidate = name[1] == UInt8(ascii: "u") ? .authorization : .apnsPriority
    case 14: candidate = name[5] == UInt8(ascii: "p") ? .apnsPushType : .apnsUniqueId
    case 15:
      switch name[5] {
      case UInt8(ascii: "e"): candidate = .apnsExpiration
      case UInt8(ascii: "r"): candidate = .apnsRequestId
      default: candidate = .apnsChannelId
      }
    case 16: candidate = .apnsCollapseId
    default: return nil
    }
    guard name.spells(candidate.name) else { return nil }
    self = candidate
  }
}

/// A set of provider fields.
public struct ProviderFieldSet: OptionSet, Sendable, Hashable {
  public let rawValue: UInt32
  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }
  @inlinable public init(_ field: ProviderField) { rawValue = 1 << UInt32(field.rawValue) }

  /// The members, in the order of the table.
  public var fields: [ProviderField] { ProviderField.allCases.filter { contains(ProviderFieldSet($0)) } }
}
