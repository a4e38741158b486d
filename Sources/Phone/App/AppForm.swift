import Basics
import PushModel

/// An app's setting as a document: `settings` reads of it what it names, the phone's document shows all of it.
extension PhoneApp: JSONDocument {
  package static let form = JSONForm<PhoneApp>(
    [
      JSONField("state", .word, \.state),
      JSONField(part: "permission", \.permission),
      JSONField("backgroundRefresh", .flag, \.mayRefresh),
    ] + build)

  private static let build: [JSONField<PhoneApp>] = [
    JSONField(
      "callbacks", .list(of: .word(AppCallback.allCases, { $0.number }), "M1 to M6"),
      get: { $0.build.callbacks.sorted { $0.rawValue < $1.rawValue } },
      set: { $0.build.callbacks = Set($1) }),
    JSONField(nullable: "options", .options, \.build.options),
    JSONField("delegateInTime", .flag, \.build.setsDelegateInTime),
    JSONField("scenes", .flag, \.build.hasScenes),
    JSONField("backgroundMode", .flag, \.build.hasBackgroundMode),
    JSONField("fetchSeconds", .number(0...3600), \.build.fetchSeconds),
    JSONField("fromXcode", .flag, \.build.isFromXcode),
    JSONField(nullable: "serviceExtension", ServiceExtension.form.kind(.init()), \.build.serviceExtension),
    JSONField(nullable: "contentExtension", ContentExtension.form.kind(.init()), \.build.contentExtension),
    JSONField(
      "categories", .dictionary(of: NotificationCategory.form.kind(.init()), by: .text, "categories"),
      \.build.categories),
    JSONField(
      "strings", .dictionary(of: .dictionary(of: .text, by: .text, "strings"), by: .text, "languages"),
      \.build.strings),
    JSONField("developmentLanguage", .text, \.build.developmentLanguage),
    JSONField(
      nullable: "sounds", .dictionary(of: .number(0...3600), by: .text, "lengths in seconds"), \.build.sounds),
    JSONField("entitlement", .word, \.build.entitlement),
    JSONField("tokens", .list(of: .pushType, "push types"), \.build.tokens),
    JSONField("activityTypes", .activityTypes, \.build.activityTypes),
    JSONField(flag: "frequentUpdates", \.build.hasFrequentUpdates),
    JSONField("timeSensitive", .flag, \.build.mayBeTimeSensitive),
    JSONField("critical", .flag, \.build.mayBeCritical), JSONField("filtering", .flag, \.build.mayFilter),
    JSONField("providesSettings", .flag, \.build.providesSettings),
    JSONField("reportsCalls", .flag, \.build.reportsCalls),
    JSONField("mustReportCalls", .flag, \.build.mustReportCalls),
    JSONField("onWatchFace", .flag, \.build.isOnWatchFace),
    JSONField("locationAlways", .flag, \.build.mayLocateAlways),
    JSONField("inChannel", .flag, \.build.isInChannel),
  ]
}

extension JSONKind<PresentationOptions> {
  fileprivate static var options: JSONKind {
    let one = JSONKind<PresentationOptions>.word(
      PresentationOptions.words.map(\.1),
      { value in PresentationOptions.words.first { $0.1 == value }?.0 ?? "" })
    let list = JSONKind<[PresentationOptions]>.list(of: one, "banner, list, sound, badge, alert")
    return JSONKind(list.expected, list.schema) {
      PresentationOptions(try list.read($0, $1))
    } write: { options in
      list.write(PresentationOptions.words.prefix(4).map(\.1).filter(options.contains))
    }
  }
}

extension JSONKind<[String]> {
  /// Most types of attributes of an app, as a count (our choice): each has a token.
  private static let mostActivityTypes = 20

  fileprivate static var activityTypes: JSONKind {
    let name = JSONKind<String>.contextName
    return JSONKind.list(of: name, "names").narrowed("at most \(mostActivityTypes) names, each once") {
      $0.count <= mostActivityTypes && Set($0).count == $0.count
    }.described(
      as: [
        "type": "array", "items": name.schema, "maxItems": .integer(Int64(mostActivityTypes)),
        "uniqueItems": true,
      ])
  }
}

extension JSONKind<String> {
  /// A type of attributes, or a Live Activity.
  package static var contextName: JSONKind {
    .spelled(
      "1 to \(TokenContext.maximumNameByteCount) bytes without spaces",
      ["type": "string", "pattern": "^[A-Za-z0-9_.-]{1,100}$"],
      { TokenContext.starting($0) == nil ? nil : $0 }, { $0 })
  }
}
