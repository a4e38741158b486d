import Basics
import Capture
import Commands
import Console
import Credentials
import Faults
import SimulatedDevice

@testable import SavedState

/// Documents in JSON that people and peers write: saved states, fault rules, filters, key records, a device's memory, the
/// configuration file, the table of a replay.
struct DocumentFuzz: FuzzTarget {
  private let settings = ServeFlags.all

  func take(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)
    keyRecord(bytes)
    deviceState(bytes)
    _ = try? ConfigurationFile(path: "fuzz", { _ in bytes }, known: settings)
    var mapping = ReplayMapping()
    _ = mapping.add(file: bytes)
    guard let object = try? JSONObject(body: bytes) else { return }
    _ = try? SavedState(object, environment: .sandbox)
    _ = try? FaultRule(object, name: "fuzz")
    _ = try? NotificationFilter(object)
  }

  private func keyRecord(_ bytes: [UInt8]) {
    guard let record = ProviderKeyRecord(json: bytes) else { return }
    precondition(ProviderKeyRecord(json: record.json) == record)
  }

  private func deviceState(_ bytes: [UInt8]) {
    guard let state = try? DeviceState(json: bytes) else { return }
    let again = try? DeviceState(json: state.json.encoded)
    precondition(again?.json.encoded == state.json.encoded)
  }
}
