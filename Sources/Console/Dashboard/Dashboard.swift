/// The dashboard: one page with its style and script, held in the binary as text.
///
/// Text instead of package resources, which would be files beside the binary; and a script of its own instead of one
/// inside the page, so that the page's policy can forbid everything that is not served from here.
enum Dashboard {
  /// Allows this server's script, style and API, and nothing else: what a provider sends is shown, so it must never be
  /// able to become a program.
  static let contentPolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  /// The script's parts in the order in which they use each other.
  static var script: String {
    [
      "'use strict';", base, format, store, stream, list, preview, payload, raw, detail, commands, tokens,
      present,
      devices,
      send,
      panes, main,
    ]
    .joined(separator: "\n")
  }
}
