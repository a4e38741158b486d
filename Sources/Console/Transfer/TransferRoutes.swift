import Broker
import PushModel
import Transport

extension Console {
  /// `GET /api/v1/export`
  func exportState(_ request: ConsoleRequest) throws -> GrowingDocument {
    try request.query().finish()
    return try StateExport(context: context).document()
  }

  /// `POST /api/v1/import`
  func importState(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    let body = try request.object()
    let counts = try StateImport(
      context: context, state: SavedState(body, environment: context.environment)
    ).run()
    publish("reset", [("what", ["import"])])
    return HTTPResponse(json: counts.json)
  }
}

/// Loading a saved state where there is no console to ask.
public enum SeedData {
  /// Why a document can't be loaded: which member, what was expected, what it is.
  public struct Failure: Error, CustomStringConvertible {
    public var description: String
  }

  /// Reads a document and makes the emulator know what it says.
  public static func load(_ bytes: [UInt8], into context: ConsoleContext) throws(Failure) {
    do {
      let body = try JSONObject(body: bytes)
      _ = try StateImport(context: context, state: SavedState(body, environment: context.environment)).run()
    } catch {
      throw Failure(description: "\(error)")
    }
  }
}

extension StateImport.Counts {
  fileprivate var json: JSONValue {
    let members = [
      ("apps", apps), ("keys", keys), ("devices", devices), ("tokens", tokens), ("messages", messages),
      ("channels", channels), ("subscriptions", subscriptions), ("faults", faults),
    ]
    return ["imported": .object(members.map { ($0.0, .integer(Int64($0.1))) })]
  }
}
