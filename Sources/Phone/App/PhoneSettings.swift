import PushModel

/// What is set on the phone itself, apart from its apps.
public struct PhoneSettings: Sendable {
  public var version: IOSVersion
  public var isLocked = true
  public var isInLowPowerMode = false
  /// Background App Refresh, of the whole phone.
  public var hasBackgroundRefresh = true
  /// Of the phone, as `en` or `pt-BR`.
  public var language = "en"
  /// Whether it reaches the courier.
  public var hasNetwork = true
  /// The switch that silences ringing.
  public var isMuted = false
  /// A simulator of Xcode before 14: pushes reach it, but it has no tokens.
  public var isSimulator = false
  /// A push without a type is taken for an alert, whatever its payload says, and one without a priority for one of 10.
  public var isPushTypeStrict = false
  /// Whether its notifications also show on a car's screen, and whether Siri may read them out.
  public var (isInCar, hasHeadphones): (Bool, Bool) = (false, false)
  /// When notifications show what they say; an app may have it otherwise.
  public var previews = Previews.always
  /// nil while none is on.
  public var focus: Focus?
  /// nil while it is off.
  public var summary: SummarySetting?

  public init(_ version: IOSVersion = .standard) { self.version = version }
}

/// A Focus that is on.
public struct Focus: Sendable, Equatable {
  /// Apps that come through it.
  public var allows: Set<Topic>
  /// What the filters of apps let display, by `filter-criteria`.
  public var filters: [Topic: [String]]

  public init(allows: Set<Topic> = [], filters: [Topic: [String]] = [:]) {
    (self.allows, self.filters) = (allows, filters)
  }
}

extension PhoneSettings: JSONDocument {
  public static let form = JSONForm<PhoneSettings>([
    JSONField("iosVersion", .iosVersion, \.version), JSONField("locked", .flag, \.isLocked),
    JSONField("lowPower", .flag, \.isInLowPowerMode),
    JSONField("backgroundRefresh", .flag, \.hasBackgroundRefresh),
    JSONField("language", .language, \.language),
    JSONField("network", .flag, \.hasNetwork), JSONField("muted", .flag, \.isMuted),
    JSONField("carPlay", .flag, \.isInCar), JSONField("headphones", .flag, \.hasHeadphones),
    JSONField("previews", .word, \.previews), JSONField(flag: "simulator", \.isSimulator),
    JSONField(flag: "strictPushType", \.isPushTypeStrict),
    JSONField(nullable: "focus", Focus.form.kind(Focus()), \.focus),
    JSONField(nullable: "summary", SummarySetting.form.kind(SummarySetting()), \.summary),
  ])
}

extension Focus: JSONDocument {
  public static let form = JSONForm<Focus>([
    JSONField(
      "allows", .list(of: .topic, "bundle ids"),
      get: { $0.allows.sorted { $0.name < $1.name } }, set: { $0.allows = Set($1) }),
    JSONField(
      "filters", .dictionary(of: .list(of: .text), by: .topic, "lists of filter-criteria"),
      get: { $0.filters.isEmpty ? nil : $0.filters }, set: { $0.filters = $1 }),
  ])
}

extension JSONKind<IOSVersion> {
  /// A version that is supported.
  public static var iosVersion: JSONKind {
    .spelled(
      IOSVersion.expected, ["type": "string", "pattern": "^([7-9]|[1-9][0-9])([.][0-9]{1,2})?$"],
      { IOSVersion($0) }, { $0.description })
  }
}

extension JSONKind<String> {
  /// A language as BCP 47 writes it.
  fileprivate static var language: JSONKind {
    .spelled(
      "a language, as en or pt-BR", ["type": "string", "pattern": "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,3}$"],
      { isLanguage($0) ? $0 : nil }, { $0 })
  }

  private static func isLanguage(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return (1...4).contains(parts.count) && (2...8).contains(parts[0].utf8.count)
      && parts[0].utf8.allSatisfy { Character(Unicode.Scalar($0)).isLetter }
      && parts.allSatisfy { part in
        (1...8).contains(part.utf8.count) && part.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      }
  }
}
