import Basics
import PushModel

/// What is set on the phone itself, apart from its apps.
package struct PhoneSettings: Sendable {
  package var version: IOSVersion
  package var isLocked = true
  package var isInLowPowerMode = false
  /// Background App Refresh, of the whole phone.
  package var hasBackgroundRefresh = true
  /// Of the phone, as `en` or `pt-BR`.
  package var language = "en"
  /// Whether it reaches the courier.
  package var hasNetwork = true
  /// The switch that silences ringing.
  package var isMuted = false
  /// A simulator of Xcode before 14: pushes reach it, but it has no tokens.
  package var isSimulator = false
  /// A push without a type is taken for an alert, whatever its payload says, and one without a priority for one of 10.
  package var isPushTypeStrict = false
  /// Whether its notifications also show on a car's screen, and whether Siri may read them out.
  package var (isInCar, hasHeadphones): (Bool, Bool) = (false, false)
  /// When notifications show what they say; an app may have it otherwise.
  package var previews = Previews.always
  /// nil while none is on.
  package var focus: Focus?
  /// nil while it is off.
  package var summary: SummarySetting?

  package init(_ version: IOSVersion = .standard) { self.version = version }
}

/// A Focus that is on.
package struct Focus: Sendable, Equatable {
  /// Apps that come through it.
  package var allows: Set<Topic>
  /// What the filters of apps let display, by `filter-criteria`.
  package var filters: [Topic: [String]]

  package init(allows: Set<Topic> = [], filters: [Topic: [String]] = [:]) {
    (self.allows, self.filters) = (allows, filters)
  }
}

extension PhoneSettings: JSONDocument {
  package static let form = JSONForm<PhoneSettings>([
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
  package static let form = JSONForm<Focus>([
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
  package static var iosVersion: JSONKind {
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
