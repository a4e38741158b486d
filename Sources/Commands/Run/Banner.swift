import Emulator

/// What `serve` prints before `ready`: service, address, note; the CA; one line that works as printed.
enum Banner {
  private static let notes = [
    ("gateway", "legacy binary protocol, TLS with a push certificate"),
    ("feedback", "feedback service, TLS with a push certificate"),
    ("provider", "HTTP/2 provider API: POST /3/device/<token>"),
    ("courier", "device connections"),
    ("console", "dashboard, REST API, activation, plain-HTTP /3/device"),
    ("proxy", "HTTPS_PROXY for programs that know only Apple's names"),
  ]

  private static let plain = ["console", "proxy"]

  static func lines(_ emulator: Emulator) -> [String] {
    let rows = notes.compactMap { name, note in
      emulator.ports[name].map { (name, plain.contains(name) ? "http://\($0)" : "\($0)", note) }
    }
    let width = rows.map(\.1.count).max() ?? 0
    let table = rows.map { name, address, note in
      name + String(repeating: " ", count: 10 - name.count) + address
        + String(repeating: " ", count: width - address.count + 2) + note
    }
    let head = "apns-emulator \(Program.version), \(emulator.options.environment.name)"
    return [head] + table + ["CA        \(emulator.ports.ca)"] + forward(emulator)
      + example(emulator)
  }

  private static func forward(_ emulator: Emulator) -> [String] {
    emulator.options.forward.map { ["forward   gateway → \($0.target), HTTP/2 with a provider token"] } ?? []
  }

  /// Whoever has chosen it need not read it in a log.
  private static func ofActivation(_ emulator: Emulator) -> [String] {
    guard let token = emulator.accessToken else { return [] }
    return [
      "access    "
        + (emulator.options.access == nil
          ? "\(token), which devices show to be activated" : "devices show the token that was given")
    ]
  }

  private static func example(_ emulator: Emulator) -> [String] {
    guard let console = emulator.ports["console"] else { return [] }
    guard let token = emulator.consoleToken else {
      return ofActivation(emulator) + ["try       curl http://\(console)/api/v1/info"]
    }
    // Whoever has chosen it need not read it in a log.
    guard emulator.options.access == nil else { return ["access    by the token that was given"] }
    return [
      "access    http://\(console)/?access=\(token)",
      "try       curl -H 'Authorization: Bearer \(token)' http://\(console)/api/v1/info",
    ]
  }
}
