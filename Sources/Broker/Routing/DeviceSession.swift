import PushModel

/// One identity of a device on a live connection.
public final class DeviceSession {
  let index: Int32
  public let device: Int32
  public let environment: Environment
  public let link: DeviceLink
  public let connectedAt: Timestamp
  /// Topics that the device wants now.
  public internal(set) var enabled: [TopicHash] = []

  /// Broadcast channels that it listens to, by row.
  var joined: [Int64: ChannelMembership] = [:]

  init(index: Int32, device: Int32, environment: Environment, link: DeviceLink, connectedAt: Timestamp) {
    (self.index, self.device, self.environment) = (index, device, environment)
    (self.link, self.connectedAt) = (link, connectedAt)
  }

  var outlet: any CourierOutlet { link.outlet }
}
