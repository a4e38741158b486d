/// The names that the server certificate answers to: this machine, and every Apple host name of the five listeners
/// (`README.md#what-is-emulated`; `Documentation/binary-protocol.md#transport`, `#feedback`,
/// `Documentation/provider-api.md#connection`, `#channels-and-broadcast`;
/// `Documentation/device-protocol.md#transport`).
enum ServerNames {
  private static let domains = ["push.apple.com", "sandbox.push.apple.com"]
  private static let services = [
    "gateway", "feedback", "api", "api-broadcast", "api-manage-broadcast", "courier",
  ]

  /// The wildcards cover the numbered courier hosts (`17-courier.push.apple.com`) and whatever comes next; the names
  /// are spelt out as well for clients that do not take a wildcard.
  static let hosts: [String] =
    ["localhost"]
    + domains.flatMap { domain in services.map { "\($0).\(domain)" } }
    + ["api.development.push.apple.com"]
    + (domains + ["development.push.apple.com"]).map { "*.\($0)" }

  /// 127.0.0.1 and ::1.
  static let addresses: [[UInt8]] = [[127, 0, 0, 1], [UInt8](repeating: 0, count: 15) + [1]]
}
