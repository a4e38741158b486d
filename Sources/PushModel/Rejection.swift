/// Every reason for which a notification is refused, on either provider interface.
///
/// One table (`Rejection+Table.swift`) gives each its HTTP status, Apple's reason word, the status byte of the
/// binary protocol and an English sentence. Nobody else spells a reason.
@frozen
public enum Rejection: UInt8, CaseIterable, Sendable, Hashable, BitwiseCopyable {
  case badCollapseId = 1
  case badDeviceToken, badExpirationDate, badMessageId, badPriority, badTopic, deviceTokenNotForTopic
  case duplicateHeaders, idleTimeout, invalidPushType, missingDeviceToken, missingTopic, payloadEmpty
  case topicDisallowed
  case badCertificate, badCertificateEnvironment, badEnvironmentKeyIdInToken, badEnvironmentKeyInToken
  case expiredProviderToken, forbidden, invalidProviderToken, missingProviderToken, unrelatedKeyIdInToken
  case badPath, methodNotAllowed
  case expiredToken, unregistered
  case payloadTooLarge
  case tooManyProviderTokenUpdates, tooManyRequests
  case internalServerError, serviceUnavailable, shutdown
  // Channels and broadcast (`Documentation/provider-api.md#channel-reasons`)
  case badChannelId, badRequestParams, badRequestPayload, cannotCreateChannelConfig, channelNotRegistered
  case featureNotEnabled, missingChannelId, missingChannelQueueSize, missingPushType, topicMismatch
  // Binary interface only (`Documentation/binary-protocol.md#error-packet`)
  case invalidTokenSize, invalidTopicSize, protocolError, unknownError

  /// HTTP status code.
  public var status: Int { row.status }
  /// Apple's word, as in `{"reason":"…"}`.
  public var reason: String { row.reason }
  /// Status byte of the error packet.
  public var legacyStatus: UInt8 { row.legacy }
  /// What it means, one English sentence without a full stop.
  public var sentence: String { row.sentence }

  /// Finds a rejection by Apple's word.
  public init?(reason: String) {
    guard let match = Self.allCases.first(where: { $0.reason == reason }) else { return nil }
    self = match
  }
}
