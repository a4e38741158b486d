/// How the program ends (`Documentation/commands.md#exit-status`).
struct ExitStatus: RawRepresentable, Equatable, Sendable {
  let rawValue: Int32

  /// Fine.
  static let success = ExitStatus(rawValue: 0)
  /// Failed, or a push was rejected.
  static let failure = ExitStatus(rawValue: 1)
  /// The command line makes no sense.
  static let usage = ExitStatus(rawValue: 2)
  /// A port is taken.
  static let portInUse = ExitStatus(rawValue: 3)
  /// The store can't be used.
  static let storeUnusable = ExitStatus(rawValue: 4)
}
