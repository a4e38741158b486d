import PushModel

/// The rows of devices that have many, by topic, so that what a device asks for costs what it is about and not what the
/// device has.
struct CrowdedDevices {
  /// Most rows of a device that are walked through to find those of a topic, as a count: that is as quick as asking a
  /// dictionary, and nearly all devices have fewer, which costs them no memory.
  static let walkLimit = 64

  /// What a token of a device is for, however often it was installed.
  struct App: Hashable {
    var topic: TopicID
    var environment: Environment
    var context: TokenContextID?
  }

  /// Rows of one device, oldest first.
  private struct Rows {
    var ofTopic: [TopicID: [RegistrationID]] = [:]
    var ofApp: [App: [RegistrationID]] = [:]

    mutating func add(_ id: RegistrationID, _ row: Registration) {
      ofTopic[row.topic, default: []].append(id)
      ofApp[row.app, default: []].append(id)
    }
  }

  private var devices: [DeviceID: Rows] = [:]

  /// Whether the rows of a device are known here.
  func knows(_ device: DeviceID) -> Bool { devices[device] != nil }

  /// A device has so many rows now that they are to be found here; `rows` are all, oldest first.
  mutating func begin(_ device: DeviceID, _ rows: some Sequence<(RegistrationID, Registration)>) {
    var all = Rows()
    for (id, row) in rows { all.add(id, row) }
    devices[device] = all
  }

  /// A device that is known here has one more.
  mutating func add(_ id: RegistrationID, _ row: Registration) { devices[row.device]?.add(id, row) }

  /// Rows of a topic on a device, oldest first; nil if the device is not known here.
  func rows(_ device: DeviceID, _ topic: TopicID) -> [RegistrationID]? {
    devices[device].map { $0.ofTopic[topic] ?? [] }
  }

  /// Rows of an app on a device, oldest first; nil if the device is not known here.
  func rows(_ device: DeviceID, _ app: App) -> [RegistrationID]? {
    devices[device].map { $0.ofApp[app] ?? [] }
  }
}
