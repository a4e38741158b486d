import Platform
import PushModel

/// Flags that several commands share.
enum CommonFlags {
  static let certs = Flag("certs", .folder, default: "certs", "folder of certificates and keys")
  static let portsFile = Flag(
    "ports-file", .file,
    "ports file of a running emulator (else APNS_EMULATOR_PORTS_FILE, else the default ports)")
  static let json = Flag("json", .toggle, "one JSON object a line")
  static let topic = Flag("topic", .topic, "topic, usually a bundle id")
  static let udid = Flag("udid", .udid, "device").required
  static let timeout = Flag("timeout", .interval, "give up after this time")
  static let environment = Flag("environment", .environment, default: "sandbox", "environment")
}
