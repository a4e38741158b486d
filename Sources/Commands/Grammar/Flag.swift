import Emulator

/// One flag of the table (`Documentation/configuration.md#flags-of-serve`): its name finds the value, its kind gives the
/// value a type.
package struct Flag<Value: Sendable>: FlagDescription {
  package let name: String
  let kind: ValueKind<Value>
  package private(set) var defaultText: String?
  package let help: String
  package private(set) var isRepeatable = false
  package private(set) var isRequired = false
  package private(set) var isSetting = false
  package private(set) var isSecret = false
  /// What a value changes in an emulator's options. Said by `setting`, which makes a copy that has it, so that a table reads as a list.
  private var set: @Sendable (inout ServeOptions, Value) -> Void = { _, _ in }

  package init(_ name: String, _ kind: ValueKind<Value>, default defaultText: String? = nil, _ help: String) {
    (self.name, self.kind, self.defaultText, self.help) = (name, kind, defaultText, help)
  }

  package var placeholder: String { kind.placeholder }
  package var expectation: String { kind.expectation }
  package var completion: CompletionHint { kind.completion }

  package func accepts(_ text: String) -> Bool { kind.parse(text) != nil }

  package func apply(_ settings: Settings, to options: inout ServeOptions) {
    for value in settings.all(self) { set(&options, value) }
  }

  /// The same flag, given any number of times.
  package var repeatable: Flag { changed { $0.isRepeatable = true } }
  /// The same flag, without which its command makes no sense.
  package var required: Flag { changed { $0.isRequired = true } }
  /// The same flag, which the environment and the configuration file may say too, and what each of its values sets.
  func setting(_ set: @escaping @Sendable (inout ServeOptions, Value) -> Void = { _, _ in }) -> Flag {
    changed { ($0.isSetting, $0.set) = (true, set) }
  }
  /// The same flag, whose value nobody is shown.
  var secret: Flag { changed { $0.isSecret = true } }
  /// The same flag with another default.
  func defaulting(to text: String?) -> Flag { changed { $0.defaultText = text } }

  private func changed(_ change: (inout Flag) -> Void) -> Flag {
    var copy = self
    change(&copy)
    return copy
  }
}

/// What parsing, help and completion need to know of a flag, whatever its value is.
package protocol FlagDescription: Sendable {
  /// Without the dashes.
  var name: String { get }
  var help: String { get }
  var placeholder: String { get }
  var expectation: String { get }
  var completion: CompletionHint { get }
  /// As it would be typed; nil where there is none.
  var defaultText: String? { get }
  var isRepeatable: Bool { get }
  var isRequired: Bool { get }
  /// Whether the environment and the configuration file may say it too.
  var isSetting: Bool { get }
  /// Whether its value is for nobody's eyes.
  var isSecret: Bool { get }

  /// Whether `text` is a value of this flag.
  func accepts(_ text: String) -> Bool
  /// Puts what was said into an emulator's options.
  func apply(_ settings: Settings, to options: inout ServeOptions)
}

extension FlagDescription {
  package var isToggle: Bool { completion == .toggle }

  /// What the flag means where no value follows it; nil if one has to.
  var bareText: String? {
    switch completion {
    case .toggle: "true"
    case .optional: ""
    case .none, .file, .folder, .words: nil
    }
  }

  /// How its value is typed behind its name, the closure showing what something stands in for.
  func valueUsage(_ shown: (String) -> String = { $0 }) -> String {
    switch completion {
    case .toggle: ""
    case .optional: "[=\(shown(placeholder))]"
    case .none, .file, .folder, .words: " " + shown(placeholder)
    }
  }

  /// `APNS_EMULATOR_GATEWAY_PORT` for `gateway-port`.
  package var environmentName: String {
    "APNS_EMULATOR_" + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
  }
}

/// Flags that help shows together, under a heading.
package struct FlagGroup: Sendable {
  /// Empty for the only group of a command.
  let heading: String
  let flags: [any FlagDescription]

  init(_ heading: String, _ flags: [any FlagDescription]) { (self.heading, self.flags) = (heading, flags) }

  init(_ heading: String, @FlagList flags: () -> [any FlagDescription]) { self.init(heading, flags()) }

  /// The same group with other flags in the place of those that have their names.
  func replacing(_ others: [any FlagDescription]) -> FlagGroup {
    FlagGroup(heading, flags.map { flag in others.first { $0.name == flag.name } ?? flag })
  }
}

/// Flags of whatever values, one below the other.
@resultBuilder
enum FlagList {
  static func buildExpression(_ flag: Flag<some Sendable>) -> [any FlagDescription] { [flag] }
  static func buildExpression(_ flags: [Flag<some Sendable>]) -> [any FlagDescription] { flags }
  static func buildBlock(_ flags: [any FlagDescription]...) -> [any FlagDescription] { flags.flatMap { $0 } }
}

/// What a shell may offer for a value.
package enum CompletionHint: Equatable, Sendable {
  case none, file, folder, toggle
  case words([String])
  /// One of these behind an equals sign, or nothing.
  case optional([String])
}
