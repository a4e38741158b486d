import PushModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The body that makes a channel: `{"message-storage-policy":1,"push-type":"LiveActivity"}` (F.1).
struct ChannelConfiguration: Decodable {
  var storagePolicy: Int?
  var pushType: String?

  enum CodingKeys: String, CodingKey {
    case storagePolicy = "message-storage-policy"
    case pushType = "push-type"
  }

  /// The only push type that can be broadcast; compared without case, as Apple prints it in several (F.2, K 3).
  static let pushType: StaticString = "liveactivity"

  /// Reads a body, or says what is wrong with it.
  static func read(_ body: UnsafeRawBufferPointer, byteCount: Int) -> Result<ChannelStorage, Refusal> {
    guard byteCount > 0 else {
      return .failure(Refusal(.payloadEmpty, rule: rule, expected: "a JSON body", got: "0 bytes"))
    }
    guard byteCount <= Limits.broadcastPayload else {
      return .failure(
        Refusal(
          .payloadTooLarge, rule: rule, expected: "at most \(Limits.broadcastPayload) bytes",
          got: "\(byteCount) bytes"))
    }
    guard let configuration = try? JSONDecoder().decode(ChannelConfiguration.self, from: Data(body)) else {
      return .failure(
        Refusal(
          .badRequestPayload, rule: rule, expected: "an object with message-storage-policy and push-type",
          got: Explanation.quoted(body)))
    }
    return configuration.checked()
  }

  private static let rule = "channel configuration (F.1)"

  private func checked() -> Result<ChannelStorage, Refusal> {
    guard let pushType else {
      return .failure(Refusal(.missingPushType, rule: Self.rule, expected: "push-type", got: "none"))
    }
    guard pushType.lowercased() == Self.pushType.description else {
      return .failure(
        Refusal(
          .invalidPushType, rule: Self.rule, expected: "LiveActivity",
          got: Array(pushType.utf8).withUnsafeBytes { Explanation.quoted($0) }))
    }
    guard let storage = storagePolicy.flatMap(ChannelStorage.init) else {
      return .failure(
        Refusal(
          .badRequestPayload, rule: Self.rule, expected: "message-storage-policy 0 or 1",
          got: storagePolicy.map { "\($0)" } ?? "none"))
    }
    return .success(storage)
  }
}
