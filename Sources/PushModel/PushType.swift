import Basics

/// The kinds of push that `apns-push-type` may name (`Documentation/provider-api.md#push-types`).
public enum PushType: UInt8, Sendable, CaseIterable, Hashable, BitwiseCopyable {
  case alert = 0
  case background, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets,
    controls

  /// The header value.
  public var name: String {
    switch self {
    case .alert: "alert"
    case .background: "background"
    case .location: "location"
    case .voip: "voip"
    case .complication: "complication"
    case .fileprovider: "fileprovider"
    case .mdm: "mdm"
    case .liveactivity: "liveactivity"
    case .pushtotalk: "pushtotalk"
    case .widgets: "widgets"
    case .controls: "controls"
    }
  }

  /// Reads the header value; nil for a word Apple does not list.
  public init?(name: String) {
    guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = type
  }

  /// Reads the header value as it came.
  public init?(_ value: Span<UInt8>) {
    // What nearly every push is.
    if value.spells("alert") {
      self = .alert
    } else {
      self.init(name: value.text)
    }
  }

  /// What the topic has after the bundle id; empty where it is the bundle id itself.
  public var topicSuffix: String {
    switch self {
    case .alert, .background, .mdm: ""
    case .location: ".location-query"
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    case .controls: ".push-type.controls"
    }
  }

  /// What topics may have after the bundle id.
  public static let topicSuffixes = allCases.map(\.topicSuffix).filter { !$0.isEmpty }

  /// Largest payload over HTTP/2, in bytes (`Documentation/provider-api.md#request`).
  public var maximumPayload: Int { self == .voip ? Limits.voipPayload : Limits.providerPayload }

  /// The kind that the binary protocol leaves unsaid: the suffix of a topic tells it, the rest follows
  /// from the payload (`Documentation/provider-api.md#push-types`, `#keys`). What can't be read counts as something to
  /// show.
  public init(forwarding payload: [UInt8], to topic: String) {
    let topic = Topic(topic)
    let type = topic?.app.type ?? topic.flatMap(Self.implied)
    self = type ?? (Self.isSeen(payload) ? .alert : .background)
  }

  /// The kind of a push that says none, where its topic leaves no other: the topics of MDM, whose servers often send no field at
  /// all (`Documentation/mdm.md#what-an-mdm-push-looks-like`).
  public static func implied(by topic: Topic) -> PushType? {
    topic.name.hasPrefix("com.apple.mgmt.") ? .mdm : nil
  }

  private static func isSeen(_ payload: [UInt8]) -> Bool {
    guard let document = JSONReader.read(payload) else { return true }
    guard let aps = document.member("aps") else { return false }
    return ["alert", "badge", "sound"].contains { aps.member($0) != nil }
  }
}
