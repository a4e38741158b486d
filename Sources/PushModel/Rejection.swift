/// Every reason for which a notification is refused, on either provider interface.
///
/// One table (`Row`) gives each its HTTP status, Apple's reason word, the status byte of the
/// binary protocol and an English sentence. Nobody else spells a reason. Nodes of a cluster send each other the raw value, so a new
/// case goes last.
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
  // Binary protocol only (`Documentation/binary-protocol.md#error-packet`)
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

  /// The rejection that a status byte of the binary protocol stands for; one that nobody has documented is an unknown
  /// error (`Documentation/binary-protocol.md#error-packet`).
  public init(legacyStatus status: UInt8) {
    self =
      switch status {
      case 1: .internalServerError
      case 2: .missingDeviceToken
      case 3: .missingTopic
      case 4: .payloadEmpty
      case 5: .invalidTokenSize
      case 6: .invalidTopicSize
      case 7: .payloadTooLarge
      case 8: .badDeviceToken
      case 10: .shutdown
      case 128: .protocolError
      default: .unknownError
      }
  }
}

extension Rejection {
  struct Row {
    let status: Int
    let reason: String
    let legacy: UInt8
    let sentence: String

    init(_ status: Int, _ reason: String, _ legacy: UInt8, _ sentence: String) {
      (self.status, self.reason, self.legacy, self.sentence) = (status, reason, legacy, sentence)
    }
  }

  /// Sources: `Documentation/provider-api.md#reasons` (device push), `Documentation/provider-api.md#channel-reasons`
  /// (channels), `Documentation/binary-protocol.md#error-packet` (status bytes). Reasons that the binary protocol
  /// can't express map to 1, processing error, or to their nearest status.
  var row: Row {
    switch self {
    case .badCollapseId: Row(400, "BadCollapseId", 128, "the collapse id is longer than 64 bytes")
    case .badDeviceToken:
      Row(400, "BadDeviceToken", 8, "the device token is malformed or not known in this environment")
    case .badExpirationDate:
      Row(400, "BadExpirationDate", 128, "the expiration is not a UNIX time in seconds")
    case .badMessageId: Row(400, "BadMessageId", 128, "the message id is not a UUID")
    case .badPriority: Row(400, "BadPriority", 128, "the priority is not one of those allowed")
    case .badTopic: Row(400, "BadTopic", 6, "the topic is malformed")
    case .deviceTokenNotForTopic:
      Row(400, "DeviceTokenNotForTopic", 8, "the device token belongs to another topic")
    case .duplicateHeaders: Row(400, "DuplicateHeaders", 128, "a header appears more than once")
    case .idleTimeout: Row(400, "IdleTimeout", 1, "the connection was idle for too long")
    case .invalidPushType: Row(400, "InvalidPushType", 128, "the push type is not one of those allowed")
    case .missingDeviceToken: Row(400, "MissingDeviceToken", 2, "there is no device token")
    case .missingTopic:
      Row(400, "MissingTopic", 3, "there is no topic and the certificate does not imply one")
    case .payloadEmpty: Row(400, "PayloadEmpty", 4, "the payload is empty or missing")
    case .topicDisallowed: Row(400, "TopicDisallowed", 8, "this provider may not push to the topic")
    case .badCertificate: Row(403, "BadCertificate", 1, "the certificate is not valid")
    case .badCertificateEnvironment:
      Row(403, "BadCertificateEnvironment", 1, "the certificate is for the other environment")
    case .badEnvironmentKeyIdInToken:
      Row(403, "BadEnvironmentKeyIdInToken", 1, "the key of the provider token is for the other environment")
    case .badEnvironmentKeyInToken:
      Row(403, "BadEnvironmentKeyInToken", 1, "the key of the provider token is for the other environment")
    case .expiredProviderToken:
      Row(403, "ExpiredProviderToken", 1, "the provider token is older than one hour")
    case .forbidden: Row(403, "Forbidden", 1, "the action is not allowed")
    case .invalidProviderToken:
      Row(
        403, "InvalidProviderToken", 1, "the provider token is malformed or its signature can't be verified")
    case .missingProviderToken:
      Row(403, "MissingProviderToken", 1, "there is neither a certificate nor a provider token")
    case .unrelatedKeyIdInToken:
      Row(403, "UnrelatedKeyIdInToken", 1, "the key is not related to the one first used on this connection")
    case .badPath: Row(404, "BadPath", 128, "the path is not one of this API's")
    case .methodNotAllowed: Row(405, "MethodNotAllowed", 128, "the method is not allowed here")
    case .expiredToken: Row(410, "ExpiredToken", 8, "the device token has expired")
    case .unregistered: Row(410, "Unregistered", 8, "the device token is no longer active for the topic")
    case .payloadTooLarge: Row(413, "PayloadTooLarge", 7, "the payload is larger than allowed")
    case .tooManyProviderTokenUpdates:
      Row(429, "TooManyProviderTokenUpdates", 1, "the provider token was renewed too often")
    case .tooManyRequests: Row(429, "TooManyRequests", 1, "too many pushes in a row to one device token")
    case .internalServerError: Row(500, "InternalServerError", 1, "an internal error occurred")
    case .serviceUnavailable: Row(503, "ServiceUnavailable", 1, "the service is unavailable")
    case .shutdown: Row(503, "Shutdown", 10, "the server is shutting down")
    case .badChannelId: Row(400, "BadChannelId", 128, "the channel id is malformed")
    case .badRequestParams: Row(400, "BadRequestParams", 128, "the request parameters are wrong")
    case .badRequestPayload: Row(400, "BadRequestPayload", 128, "the request body is not the JSON expected")
    case .cannotCreateChannelConfig:
      Row(400, "CannotCreateChannelConfig", 1, "the bundle id has as many channels as are allowed")
    case .channelNotRegistered: Row(400, "ChannelNotRegistered", 8, "the channel does not exist")
    case .featureNotEnabled: Row(400, "FeatureNotEnabled", 1, "broadcast is not enabled for the bundle id")
    case .missingChannelId: Row(400, "MissingChannelId", 2, "there is no channel id")
    case .missingChannelQueueSize:
      Row(
        400, "MissingChannelQueueSize", 128,
        "the message storage policy is missing or not one of those allowed")
    case .missingPushType: Row(400, "MissingPushType", 128, "there is no push type")
    case .topicMismatch: Row(403, "TopicMismatch", 8, "the certificate or token does not cover the bundle id")
    case .invalidTokenSize: Row(400, "BadDeviceToken", 5, "the device token has a length that is not allowed")
    case .invalidTopicSize: Row(400, "BadTopic", 6, "the topic has a length that is not allowed")
    case .protocolError: Row(400, "BadRequestPayload", 128, "the notification could not be parsed")
    case .unknownError: Row(500, "InternalServerError", 255, "the reason is not known")
    }
  }
}
