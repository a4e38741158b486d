import Credentials
import Emulator
import Platform
import PushModel

/// Kinds of this field.
extension ValueKind where Value == EmulatorOptions.Port {
  static let port = ValueKind("PORT", expects: "a port from 0 to 65535, or off") { text in
    text == "off" ? .off : UInt16(text).map { .number($0) }
  }
}

extension ValueKind where Value == SocketAddress {
  static let endpoint = ValueKind("HOST:PORT", expects: "a host and a port such as 127.0.0.1:2195") {
    SocketAddress($0)
  }
}

extension ValueKind where Value == Environment {
  static let environment = ValueKind(
    "sandbox|production", expects: "sandbox or production", completion: .words(["sandbox", "production"])
  ) { Environment(name: $0) }
}

extension ValueKind where Value == EnvironmentSet {
  static let environments = ValueKind(
    "sandbox|production|both", expects: "sandbox, production or both",
    completion: .words(["sandbox", "production", "both"])
  ) { EnvironmentSet(name: $0) }
}

extension ValueKind where Value == Topic {
  static let topic = ValueKind("TOPIC", expects: "a bundle id such as com.example.app") { Topic($0) }
}

extension ValueKind where Value == UDID {
  static let udid = ValueKind(
    "UDID", expects: "1 to \(UDID.maximumByteCount) letters, digits, dots, dashes or underscores"
  ) { UDID($0) }
}

extension ValueKind where Value == [UInt8] {
  /// Any bytes: providers may want to see how a token of the wrong length is refused.
  static let hex = ValueKind("HEX", expects: "an even number of hexadecimal digits") { Hex.decode($0) }
}

extension ValueKind where Value == PayloadSource {
  static let payload = ValueKind("JSON|@FILE", expects: "a payload, or @ and the name of a file") {
    PayloadSource($0)
  }
}

extension ValueKind where Value == ExpirationTime {
  static let expiration = ValueKind("TIME", expects: "UNIX seconds, 0, or + and a time such as +1h") {
    ExpirationTime($0)
  }
}
