extension PushType {
  /// The kind that the binary interface leaves unsaid: certificates for one kind tell it by their topic, the rest follows
  /// from the payload (`Documentation/provider-api.md#push-types`, `#keys`). What can't be read counts as something to
  /// show.
  public init(forwarding payload: [UInt8], to topic: String) {
    let kinds = [PushType.voip, .complication, .fileprovider, .location, .pushtotalk]
    if let kind = kinds.first(where: { topic.hasSuffix($0.topicSuffix) }) {
      self = kind
    } else if topic.hasPrefix("com.apple.mgmt.") {
      self = .mdm
    } else {
      self = Self.isSeen(payload) ? .alert : .background
    }
  }

  private static func isSeen(_ payload: [UInt8]) -> Bool {
    guard let document = JSONReader.read(payload) else { return true }
    guard let aps = document.member("aps") else { return false }
    return ["alert", "badge", "sound"].contains { aps.member($0) != nil }
  }
}
