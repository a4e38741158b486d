import Broker
import PushModel

/// A device of a saved state, with the rows of its token map.
struct SavedDevice: Equatable, JSONDocument {
  var told: DeviceRow
  /// In the order in which they were issued.
  var rows: [SavedRow] = []

  private var installs = NumberedInstalls()
  /// Meant by rows that do not say.
  private var environment = Environment.sandbox

  var udid: UDID { told.udid }

  init(_ device: Device) { told = DeviceRow(device) }

  /// What is written is without its rows, which may be many.
  static let form = JSONForm<SavedDevice>(
    DeviceRow.form.members.map { $0.of(\.told) } + [
      JSONField(objects: "apps", "SavedRow") { try $0.addRow($1) }
    ])

  private mutating func addRow(_ object: JSONObject) throws {
    guard rows.count < Registry.rowsPerDevice else {
      throw DocumentError(
        "\(object.place): expected at most \(Registry.rowsPerDevice) rows of a device, got more")
    }
    let row = try SavedRow(object, after: installs, environment: environment)
    installs.note(row)
    rows.append(row)
  }

  init(_ object: JSONObject, environment: Environment) throws {
    told = DeviceRow(try object.required("udid", .udid))
    self.environment = environment
    try Self.form.read(object, into: &self)
  }
}
