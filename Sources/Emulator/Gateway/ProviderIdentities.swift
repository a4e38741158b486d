import Broker
import Credentials
import PushModel
import Services
import Transport

/// Turns the certificate of a legacy connection into topics and an environment.
final class ProviderIdentities {
  private let broker: Broker
  private let trust: ProviderTrust
  private let logger: Logger
  private let defaultEnvironment: Environment

  init(broker: Broker, trust: ProviderTrust, logger: Logger, defaultEnvironment: Environment) {
    (self.broker, self.trust, self.logger) = (broker, trust, logger)
    self.defaultEnvironment = defaultEnvironment
  }

  /// The environment that the client asked for by name, else the emulator's.
  func environment(of connection: SocketConnection) -> Environment {
    connection.requestedName.flatMap { Environment(serverName: $0) } ?? defaultEnvironment
  }

  /// Who a connection belongs to; nil if its certificate is for the other environment: then it is closed without a word
  /// (`Documentation/binary-protocol.md#client-certificate`).
  func identify(_ connection: SocketConnection, listener: String) -> GatewayProvider? {
    identify(connection.peerCertificate, environment(of: connection), listener: listener)
  }

  /// The same of a leaf in DER that has just been judged.
  func identify(_ leaf: [UInt8]?, _ environment: Environment, listener: String) -> GatewayProvider? {
    guard let verdict = leaf.flatMap({ trust.recentVerdict(leafDER: $0) }),
      let certificate = verdict.certificate
    else { return GatewayProvider(topic: nil, environment: environment, topics: []) }
    let allowed = verdict.isAccepted ? verdict.environments : certificate.environments
    guard allowed.contains(environment) else {
      report(certificate, environment, listener)
      return nil
    }
    let implied = certificate.impliedTopic ?? certificate.topics.first?.name
    return GatewayProvider(
      topic: implied.flatMap { broker.registry.topic(named: $0) }, environment: environment,
      topics: Set(certificate.topics.compactMap { broker.registry.topic(named: $0.name) }),
      pushType: implied.flatMap(PushType.implied), waived: verdict.waiver?.detail,
      standing: leaf.flatMap(trust.standing), name: implied)
  }

  /// The topic by which a certificate is known, whatever environment it is for.
  func topic(of connection: SocketConnection) -> String? {
    let certificate = connection.peerCertificate.flatMap { trust.recentVerdict(leafDER: $0) }?.certificate
    return certificate.flatMap { $0.impliedTopic ?? $0.topics.first?.name }?.name
  }

  /// A provider whose certificate was revoked is told nothing: the binary protocol has no word for it.
  func reportRevoked(listener: String) {
    logger.log(
      .warning, "connection closed",
      [
        ("listener", .string(listener)),
        ("because", .string("the certificate was revoked after its handshake (certs revoke)")),
      ])
  }

  private func report(_ certificate: PushCertificateClaims, _ environment: Environment, _ listener: String) {
    let allowed = certificate.environments.environments.map(\.name).joined(separator: " and ")
    let sentence =
      "the certificate is for \(allowed.isEmpty ? "no environment" : allowed), this is \(environment.name)"
    logger.log(
      .warning, "connection closed",
      [
        ("listener", .string(listener)), ("certificate", .string(certificate.commonName)),
        ("because", .string(sentence)),
      ])
  }
}
