import Basics
import Broker
import ConsoleAnswers
import PushModel

/// Devices, topics and apps as requests name them; what can't be had is a refusal.
extension Registry {
  /// Says from now on whether rows are still those that they are now: not if they were forgotten.
  package var holdsRows: () -> Bool {
    { [self, generation] in generation == self.generation }
  }

  func seenDevice(_ udid: UDID) throws -> DeviceID {
    guard let device = knownDevice(udid) else {
      throw ConsoleError.notFound("device \(udid) is unknown; connect it, or install an app on it")
    }
    return device
  }

  package func newOrKnownDevice(_ udid: UDID, _ now: Timestamp) throws(ConsoleError) -> DeviceID {
    guard let device = device(udid, now: now) else {
      throw .full("devices", limit: Registry.rowLimit)
    }
    return device
  }

  package func newOrKnownTopic(_ name: Topic) throws(ConsoleError) -> TopicID {
    guard let topic = topic(named: name) else {
      throw .full("topics", limit: Registry.topicLimit)
    }
    return topic
  }

  /// Why the device gets no further row.
  func noRoom(_ device: DeviceID) -> ConsoleError {
    registrations(of: device).count >= Registry.rowsPerDevice
      ? .full("\(self[device].udid.text)'s installs, reinstalls included", limit: Registry.rowsPerDevice)
      : .full("tokens", limit: Registry.rowLimit)
  }
}

extension Broker {
  /// Installs the app, and makes the phone known, unless they are there; answers its row of the token map.
  func install(_ app: Topic, on udid: UDID, _ environment: Environment, now: Timestamp) throws
    -> RegistrationID
  {
    let device = try registry.newOrKnownDevice(udid, now)
    let topic = try registry.newOrKnownTopic(app)
    let token = apps.change(.install, device: device, topic: topic, environment: environment, now: now)
    guard let row = token.flatMap(registry.find) else { throw registry.noRoom(device) }
    return row
  }
}
