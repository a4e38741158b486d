import Basics
import Broker
import PushModel

/// What an emulator says of itself. Filled in by whoever wires it.
package struct EmulatorInfo {
  package struct Address: JSONAnswer {
    let host: String
    let port: Int

    package init(host: String, port: Int) { (self.host, self.port) = (host, port) }

    package static let shape: JSONShape<Address> = ["host": .show { $0.host }, "port": .show { $0.port }]
  }

  /// What is recorded into a file.
  package struct Capture: JSONAnswer {
    let file: String
    let recorded: Int
    let written: Int

    /// An absolute path, how many pushes were recorded so far, and how many of them are in the file or lost.
    package init(file: String, progress: (recorded: Int, written: Int)) {
      (self.file, recorded, written) = (file, progress.recorded, progress.written)
    }

    package static let shape: JSONShape<Capture> = [
      "file": .show("/home/me/traffic.jsonl") { $0.file }, "recorded": .show(23) { $0.recorded },
      "written": .show(22) { $0.written },
    ]
  }

  package var version = ""
  package var environment = Environment.sandbox
  package var listeners: [(String, Address)] = []
  /// Paths of the authority's certificate and of the folder of certificates.
  package var (ca, certs) = ("", "")
  package var portsFile: String?
  /// Whether the console asks for an access token.
  package var needsAccess = false
  /// Topics that there is a push certificate for.
  package var certificates: [String] = []
  package var (isLenient, isEphemeral) = (false, false)
  package var seed = ""
  /// Its name in a cluster.
  package var node: String?
  /// Nil while nothing is captured.
  package var capture: Capture?

  package init() {}
}

/// The same with where it stands, as the API shows it.
struct InfoDocument: JSONAnswer {
  let info: EmulatorInfo
  let boot: String
  let clock: ClockDocument
  let now: Timestamp
  let broker: Broker

  static let shape = JSONShape<InfoDocument>([
    "version": .show("0.1.0") { $0.info.version }, "environment": .show { $0.info.environment },
    "listeners": .show(["provider": ["host": "127.0.0.1", "port": 2197]]) { JSONMap($0.info.listeners) },
    "ca": .show("/home/me/certs/ca.pem") { $0.info.ca }, "certs": .show("/home/me/certs") { $0.info.certs },
    "portsFile": .show { $0.info.portsFile }, "needsAccess": .show { $0.info.needsAccess },
    "certificates": .show([JSONExample.topic]) { $0.info.certificates },
    "lenient": .show { $0.info.isLenient }, "ephemeral": .show { $0.info.isEphemeral },
    "seed": .show("7") { $0.info.seed }, "node": .maybe { .some($0.info.node) },
    "capture": .maybe { .some($0.info.capture) },
    "boot": .show("m4xk2p9q", as: bootName) { $0.boot }, "now": .show { $0.now },
    "clock": .show { $0.clock },
    "counters": .show(["received": 1, "accepted": 1, "delivered": 1]) { JSONMap($0.counters) },
  ]).named("Info")

  private static let bootName = JSONKind<String>.text.described(
    as: [
      "type": "string", "pattern": "^[0-9a-z]{1,12}$",
      "description":
        "Names this run of the emulator. When it changes, the emulator was started again, and what was loaded before is out of date.",
    ])

  private var counters: [(String, UInt64)] {
    let (registry, journal) = (broker.registry, broker.journal)
    return broker.counters.all.map { ($0.name, $0.value) } + [
      ("devices", UInt64(registry.deviceCount)), ("tokens", UInt64(registry.registrationCount)),
      ("topics", UInt64(registry.topicCount)), ("feedback", UInt64(broker.feedback.count)),
      ("history", journal.nextId - journal.firstId), ("historyLimit", UInt64(journal.capacity)),
      ("latestId", journal.nextId - 1),
    ]
  }
}
