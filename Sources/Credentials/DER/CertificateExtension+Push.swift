import PushModel

/// Apple's extensions of push certificates (`Documentation/provider-api.md#extensions`).
extension CertificateExtension {
  /// 1.2.840.113635.100.6.3, the arc of the three below.
  private static let pushArc: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x06, 0x03]

  /// Identifier of the extension that allows one environment: .1 development, .2 production.
  static func pushIdentifier(_ environment: Environment) -> [UInt8] {
    switch environment {
    case .sandbox: pushArc + [1]
    case .production: pushArc + [2]
    }
  }

  /// Identifier of the extension that lists the topics.
  static let topicsIdentifier: [UInt8] = pushArc + [6]

  /// Allows the use of one environment.
  static func push(_ environment: Environment) -> CertificateExtension {
    CertificateExtension(identifier: pushIdentifier(environment), value: DERWriter.null)
  }

  /// Lists the topics.
  static func topics(_ topics: [PushTopic]) -> CertificateExtension {
    CertificateExtension(identifier: topicsIdentifier, value: TopicsExtension.encode(topics))
  }
}
