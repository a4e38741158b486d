import PushModel

/// A cluster as the API shows it.
extension ClusterReport {
  var document: JSONValue {
    [
      "name": .string(name), "cluster": .optional(cluster), "ready": .bool(because == nil),
      "because": .optional(because),
      "engine": engine.document, "zoneCount": .integer(Int64(zones.count)),
      "nodes": .array(nodes.map { $0.document(isThis: $0.name == name) }),
      "missing": .array(missing.map(JSONValue.string)),
      "zones": .array(zones.map(\.document)),
    ]
  }
}

extension ClusterReport.Engine {
  fileprivate var document: JSONValue {
    [
      "servers": .array(servers.map { .string($0) }), "connected": .bool(isConnected),
      "because": .optional(trouble), "waitingMs": .integer(waitingMs),
    ]
  }
}

extension ClusterReport.Node {
  fileprivate func document(isThis: Bool) -> JSONValue {
    [
      "name": .string(name), "ordinal": .integer(Int64(clamping: ordinal)), "address": .optional(address),
      "console": .optional(console), "owned": .integer(Int64(owned)), "devices": .integer(Int64(devices)),
      "draining": .bool(isDraining), "isThis": .bool(isThis),
    ]
  }
}

extension ClusterReport.Zone {
  var document: JSONValue {
    [
      "zone": .integer(Int64(number)), "owner": .optional(owner), "seat": .string(seat.rawValue),
      "epoch": .integer(Int64(clamping: epoch)), "sequence": .integer(Int64(clamping: sequence)),
      "waitingBytes": .integer(Int64(waitingBytes)), "moving": .bool(isMoving), "trouble": .optional(trouble),
    ]
  }
}

/// What `POST …/zones/{zone}` takes.
struct ZoneMove: JSONDocument {
  /// The node that is to own the zone.
  var node = ""

  static let form = JSONForm<ZoneMove>([JSONField("node", .name, \.node).needed])
}

/// The shapes of the cluster's documents.
extension APISchemas {
  static var cluster: [(String, JSONValue)] {
    [
      (
        "Cluster",
        object([
          ("name", text), ("cluster", nullable("string")), ("ready", flag), ("because", nullable("string")),
          ("engine", engine), ("zoneCount", whole), ("nodes", list(.schema("ClusterNode"))),
          ("missing", list(text)),
          ("zones", list(.schema("ClusterZone"))),
        ])
      ),
      (
        "ClusterNode",
        object([
          ("name", text), ("ordinal", whole), ("address", nullable("string")),
          ("console", nullable("string")), ("owned", whole), ("devices", whole), ("draining", flag),
          ("isThis", flag),
        ])
      ),
      (
        "ClusterZone",
        object([
          ("zone", whole), ("owner", nullable("string")),
          ("seat", .words(ClusterReport.Seat.allCases.map(\.rawValue))), ("epoch", whole),
          ("sequence", whole), ("waitingBytes", whole), ("moving", flag), ("trouble", nullable("string")),
        ])
      ),
      ("ZoneMove", ZoneMove.form.schema),
      ("NodeOrder", object([("node", text), ("does", .words(["drain", "kill", "forget"]))])),
    ]
  }

  private static var engine: JSONValue {
    object([
      ("servers", list(text)), ("connected", flag), ("because", nullable("string")), ("waitingMs", whole),
    ])
  }
}
