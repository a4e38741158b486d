/// What parsing, help and completion need to know of a flag, whatever its value is.
protocol FlagDescription: Sendable {
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

  /// Whether `text` is a value of this flag.
  func accepts(_ text: String) -> Bool
}

extension FlagDescription {
  var isToggle: Bool { completion == .toggle }

  /// `APNS_EMULATOR_GATEWAY_PORT` for `gateway-port`.
  var environmentName: String {
    "APNS_EMULATOR_" + String(name.uppercased().map { $0 == "-" ? "_" : $0 })
  }
}
