import Basics
import Broker
import Faults
import PushModel
import Testing
import Transport

import Console

/// What the description shows is true: every example fits its shape, and what it asks is answered.
@Suite struct ExamplesTests {
  private let document = OpenAPIDocument.make(ConsoleLab().console.table.routes, version: "1")
  private var check: SchemaCheck { SchemaCheck(schemas: document["components"]["schemas"]) }

  private struct Operation: CustomStringConvertible {
    var path: String
    var method: String
    var value: JSONValue
    var description: String { "\(method) \(path)" }
  }

  private var operations: [Operation] {
    document["paths"].names.flatMap { path in
      document["paths"][path].names.map {
        Operation(path: path, method: $0.uppercased(), value: document["paths"][path][$0])
      }
    }
  }

  @Test("Every body of a request and of an answer has an example, and it fits")
  func bodies() {
    var count = 0
    for operation in operations {
      var contents = [("request", operation.value["requestBody"]["content"])]
      for status in operation.value["responses"].names {
        contents.append((status, operation.value["responses"][status]["content"]))
      }
      for (part, content) in contents {
        for type in content.names {
          let place = "\(operation) \(part)"
          #expect(content[type].names.contains("example"), "\(place)")
          #expect(check.findings(content[type]["example"], content[type]["schema"], at: place).isEmpty)
          count += 1
        }
      }
    }
    #expect(count > 200)
  }

  @Test("Every part of a path has an example, and examples of parameters fit, as a request spells them")
  func parameters() {
    for operation in operations {
      for parameter in operation.value["parameters"].elements {
        let hasExample = parameter.names.contains("example")
        #expect(hasExample || parameter["in"].string != "path", "\(operation): \(parameter.text)")
        guard hasExample else { continue }
        #expect(check.findings(parameter["example"], parameter["schema"], at: "\(operation)").isEmpty)
      }
    }
  }

  @Test("A check that finds nothing would be worth nothing")
  func checkFinds() {
    let wrong: [(JSONValue, JSONValue)] = [
      ("x", ["type": "integer"]), (["a": 1], ["type": "object", "additionalProperties": false]),
      ([:], ["required": ["a"]]), ("b", ["enum": ["a"]]), (0, .integers(1...2)),
      ("A", ["pattern": "^[a-z]$"]),
      ("soon", JSONKind.time.schema), ([["x": 1]], ["items": ["$ref": "#/components/schemas/Status"]]),
      (1, ["oneOf": [["type": "integer"], ["type": "number"]]]), (1, ["not": [:]]), (1, ["const": 1]),
    ]
    for (value, schema) in wrong {
      #expect(!check.findings(value, schema).isEmpty, "\(value.text) against \(schema.text)")
    }
  }

  // MARK: Sending

  private static let streams = FakeStreams()

  /// A console to which everything has happened that the examples tell of.
  private func lab() throws -> ConsoleLab {
    let issuer = FakeIssuer()
    issuer.issue(SavedKey(keyId: "KEY1234567", teamId: "TEAM123456", topics: [], environments: [.sandbox]))
    let lab = ConsoleLab {
      $0.streams = Self.streams
      ($0.cluster, $0.router) = (FakeCluster(), FakeRouter())
      $0.credentials = issuer
      $0.faults = FaultEngine(seed: 1)
      ($0.activate, $0.drills) = (ConsoleLab.activates, FakeDrills(.running))
    }
    lab.parts.push = { _, reply in reply(HTTPResponse(status: 200)) }
    let broker = lab.broker
    lab.parts.testPushes = FakeTestPushes { _ in broker.journal.nextId - 1 }
    let importing = document["paths"]["/api/v1/import"]["post"]["requestBody"]
    let state = importing["content"]["application/json"]["example"]
    #expect(try lab.ask("POST", "/api/v1/import", json: state.text).status == 200)
    let fault = FaultRule.request.example
    #expect(try lab.ask("POST", "/api/v1/faults", json: fault.text).status == 201)
    try lab.push(
      try #require(JSONExample.token.string.flatMap { DeviceToken(hex: $0) }).bytes,
      #"{"aps":{"alert":"Hello"}}"#)
    let phone = FakePhone(lab.parts.phones, try #require(JSONExample.udid.string.flatMap { UDID($0) }))
    phone.connect()
    lab.phones.append(phone)
    lab.endTurn()
    return lab
  }

  private func target(_ operation: Operation) -> String {
    var (path, query) = (operation.path, [String]())
    for parameter in operation.value["parameters"].elements {
      let value = parameter["example"].string ?? parameter["example"].text
      let name = parameter["name"].string ?? ""
      switch parameter["in"].string {
      case "path":
        path = path.split(separator: "{\(name)}", omittingEmptySubsequences: false).joined(separator: value)
      case "query" where !parameter["example"].isNull: query.append("\(name)=\(value)")
      default: break
      }
    }
    return query.isEmpty ? path : path + "?" + query.joined(separator: "&")
  }

  @Test("Each example is a request that is answered as described")
  func sent() throws {
    for operation in operations
    where !["events", "stream"].contains(operation.path.split(separator: "/").last) {
      let lab = try lab()
      let body = operation.value["requestBody"]["content"]
      let type = body.names.first ?? ""
      let example = body[type]["example"]
      let text = example.string ?? example.text
      let fields = type.isEmpty ? [] : [HTTPField("Content-Type", type)]
      let answer = try lab.open(
        operation.method, target(operation), fields: fields, body: type.isEmpty ? [] : Array(text.utf8))
      let response = try lab.whole(answer)
      let said = String(decoding: response.body, as: UTF8.self)
      #expect(response.status < 300, "\(operation): \(said)")
      let described = operation.value["responses"]["\(response.status)"]
      #expect(described.names.contains("description"), "\(operation): \(response.status)")
      let schema = described["content"]["application/json"]["schema"]
      guard !schema.isNull, operation.path != "/api/v1/openapi.json" else { continue }
      let value = try #require(JSONReader.read(response.body, maximumDepth: 32), "\(operation)")
      #expect(check.findings(value, schema, at: "\(operation)").isEmpty)
    }
  }
}
