/// One flag of the table (`Documentation/commands.md#flags-of-serve`): its name finds the value, its kind gives the
/// value a type.
struct Flag<Value: Sendable>: FlagDescription {
  let name: String
  let kind: ValueKind<Value>
  private(set) var defaultText: String?
  let help: String
  private(set) var isRepeatable = false
  private(set) var isRequired = false
  private(set) var isSetting = false

  init(_ name: String, _ kind: ValueKind<Value>, default defaultText: String? = nil, _ help: String) {
    (self.name, self.kind, self.defaultText, self.help) = (name, kind, defaultText, help)
  }

  var placeholder: String { kind.placeholder }
  var expectation: String { kind.expectation }
  var completion: CompletionHint { kind.completion }

  func accepts(_ text: String) -> Bool { kind.parse(text) != nil }

  /// The same flag, given any number of times.
  var repeatable: Flag { changed { $0.isRepeatable = true } }
  /// The same flag, without which its command makes no sense.
  var required: Flag { changed { $0.isRequired = true } }
  /// The same flag, which the environment and the configuration file may say too.
  var setting: Flag { changed { $0.isSetting = true } }
  /// The same flag with another default.
  func defaulting(to text: String?) -> Flag { changed { $0.defaultText = text } }

  private func changed(_ change: (inout Flag) -> Void) -> Flag {
    var copy = self
    change(&copy)
    return copy
  }
}
