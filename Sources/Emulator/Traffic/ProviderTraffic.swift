import Advice
import AdviceFeed
import Broker
import PushModel
import Recorder
import Transport

/// What providers do, for those who watch it: connections are numbered here, always, so that capture and adviser know each by the
/// same number.
final class ProviderTraffic: TrafficRecorder {
  /// Where what comes in is captured; nil while it is not.
  let capture: CaptureRecorder?
  let advice: AdviceService
  private let registry: Registry
  private var connectionCount: UInt32 = 0

  init(_ capture: CaptureRecorder?, _ advice: AdviceService, _ registry: Registry) {
    (self.capture, self.advice, self.registry) = (capture, advice, registry)
  }

  /// A provider has connected; answers its number, from 1.
  func opened(_ interface: Interface, _ environment: Environment, topic: String?) -> UInt32 {
    connectionCount &+= 1
    capture?.connectionOpened(connectionCount, interface, environment, topic: topic)
    return connectionCount
  }

  /// Nothing more comes from there.
  func closed(_ number: UInt32) { capture?.connectionClosed(number) }

  // MARK: What somebody else decides about

  func gatewayOpened(_ topic: TopicID?, _ environment: Environment) -> UInt32 {
    opened(.gateway, environment, topic: topic.map { registry[$0].label })
  }

  func awaits(_ id: UInt64) { capture?.awaits(id) }

  func decided(_ id: UInt64, isRecorded: Bool) {
    capture?.decided(id, isRecorded: isRecorded)
    advice.decided(id, isTaken: isRecorded)
  }
}

extension SeenConnection {
  /// A certificate as findings name it.
  static func certificate(_ topic: String) -> String { "certificate of \(topic)" }

  init(number: UInt32, interface: Interface, credential: String?, _ connection: SocketConnection) {
    let version = connection.tlsVersion
    self.init(
      number: number, interface: interface, credential: credential, peer: connection.remoteAddress.host,
      tlsVersion: version == "none" ? nil : version)
  }
}
