import Platform
import PushModel

/// Flags that several commands share.
enum CommonFlags {
  static let certs = Flag("certs", .folder, default: "certs", "folder of certificates and keys").setting
  /// The same for a command that may ask a running emulator where its folder is.
  static let certsOfEmulator = Flag(
    "certs", .folder, "folder of certificates and keys (else that of the ports file, else certs)"
  ).setting
  static let portsFile = Flag(
    "ports-file", .file,
    "ports file of a running emulator (else APNS_EMULATOR_PORTS_FILE, else the default ports)")
  static let access = Flag(
    "access", .text("TOKEN"), "what serve printed as access, if it is bound beyond loopback"
  ).setting
  static let json = Flag("json", .toggle, "one JSON object a line")
  static let topic = Flag("topic", .topic, "topic, usually a bundle id")
  static let udid = Flag("udid", .udid, "device id, any name: phone-1").required
  static let timeout = Flag("timeout", .interval, "give up after this time")
  static let environment = Flag(
    "environment", .environment, default: "sandbox", "which of Apple's server names is asked for")
}
