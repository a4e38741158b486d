extension Rejection {
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
