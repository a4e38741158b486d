import Basics
import Broker
import PushModel
import Testing

import Console

@Suite struct OpenAPITests {
  private func document() throws -> JSONValue {
    let served = try ConsoleLab().ask("GET", "/api/v1/openapi.json")
    try #require(served.status == 200)
    // The reader of requests stops at a depth that a description passes, so the same document is made again.
    let made = OpenAPIDocument.make(ConsoleLab().console.table.routes, version: "1")
    #expect(made.encoded == served.body)
    return made
  }

  @Test("Every documented route is in the document, and nothing else is")
  func routes() throws {
    let paths = try document()["paths"]
    var listed: Set<String> = []
    for path in paths.names {
      for method in paths[path].names { listed.insert("\(method.uppercased()) \(path)") }
    }
    let expected = ConsoleLab().console.table.routes.filter(\.isDocumented).map {
      "\($0.method) \($0.pattern.text)"
    }
    #expect(listed == Set(expected) && listed.count == expected.count)
  }

  @Test("Every reference leads to a schema, every operation has its own id and path parameters")
  func references() throws {
    let document = try document()
    let schemas = Set(document["components"]["schemas"].names)
    let prefix = "#/components/schemas/"
    for word in document.text.split(separator: "\"") where word.hasPrefix(prefix) {
      #expect(schemas.contains(String(word.dropFirst(prefix.count))))
    }
    var ids: [String] = []
    for path in document["paths"].names {
      for method in document["paths"][path].names {
        let operation = document["paths"][path][method]
        ids.append(try #require(operation["operationId"].string))
        let inPath = operation["parameters"].elements.filter { $0["in"].string == "path" }
        #expect(inPath.map { $0["name"].string } == PathPattern(path).names)
        #expect(!operation["responses"].names.isEmpty)
      }
    }
    #expect(Set(ids).count == ids.count)
  }

  @Test("Refusals are documented by their status, and there is no catch-all")
  func refusals() throws {
    let paths = try document()["paths"]
    let responses = { (path: String, method: String) in Set(paths[path][method]["responses"].names) }
    for path in paths.names {
      for method in paths[path].names {
        #expect(!responses(path, method).contains("default"))
        #expect(responses(path, method).isSuperset(of: ["400", "403"]), "\(method) \(path)")
      }
    }
    #expect(responses("/api/v1/devices/{udid}", "get") == ["200", "400", "401", "403", "404", "503"])
    #expect(responses("/api/v1/push", "post") == ["200", "400", "401", "403", "409", "413", "415", "503"])
    #expect(responses("/livez", "get") == ["200", "400", "403"])
  }

  @Test("What the routes answer has the members of their schemas, and no others")
  func answers() throws {
    let lab = ConsoleLab { $0.cluster = FakeCluster() }
    let token = try lab.install()
    _ = try lab.connect()
    try lab.push(token.bytes, "{}")
    let app = try #require(Topic(ConsoleLab.app))
    let topic = try #require(lab.broker.registry.topic(named: app))
    lab.broker.channels.create(
      ChannelTable.Key(topic: topic, environment: .sandbox, id: [1]), storesNewest: true)
    lab.broker.feedback.reportForeignGone(
      token: [1, 2, 3], topic: topic, environment: .sandbox, goneAt: lab.now)
    let schemas = try document()["components"]["schemas"]
    let check = SchemaCheck(schemas: schemas)
    let samples: [(JSONValue, String)] = [
      (try lab.get("/api/v1/info"), "Info"), (try lab.get("/api/v1/tokens")["tokens"][0], "Token"),
      (try lab.get("/api/v1/tokens/\(token.hex)"), "TokenDetail"),
      (try lab.get("/api/v1/devices/phone"), "Device"), (try lab.get("/api/v1/clock"), "Clock"),
      (try lab.get("/api/v1/channels")["channels"][0], "Channel"),
      (try lab.get("/api/v1/feedback")["feedback"][0], "FeedbackEntry"),
      (try lab.get("/api/v1/notifications")["notifications"][0], "Notification"),
      (try lab.get("/api/v1/notifications/1"), "NotificationDetail"), (try lab.get("/livez"), "Status"),
      (try lab.get("/api/v1/cluster"), "Cluster"),
    ]
    for (sample, name) in samples {
      #expect(schemas[name]["required"].count > 0, "\(name)")
      #expect(
        check.findings(sample, schemas[name], at: name) + check.untold(sample, schemas[name], at: name) == [])
    }
  }

  @Test("Base64 is described exactly: what bytes are encoded to fits, and nothing else does")
  func base64Patterns() throws {
    let schemas = try document()["components"]["schemas"]
    let payloads = ["SavedMessage", "TestPush"].map { schemas[$0]["properties"]["payloadBase64"] }
    let id = schemas["SavedChannel"]["properties"]["id"]
    func fits(_ text: String, _ schema: JSONValue) -> Bool {
      SchemaCheck(schemas: schemas).findings(.string(text), schema).isEmpty
    }
    for count in 0...70 {
      let text = Base64.encode([UInt8](repeating: UInt8(count), count: count))
      #expect(payloads.allSatisfy { fits(text, $0) }, "\(text)")
      #expect(fits(text, id) == (1...64).contains(count), "\(count) bytes")
    }
    for byte in UInt8.min ... .max {
      #expect(
        (payloads + [id]).allSatisfy {
          fits(Base64.encode([byte]), $0) && fits(Base64.encode([0, byte]), $0)
        })
    }
    for text in [
      "A", "AA", "AAA", "AAAAA", "AB==", "AAB=", "A===", "=", "AA==AAAA", "AAA=AAAA", "AA A", "__--",
    ] {
      #expect((payloads + [id]).allSatisfy { !fits(text, $0) }, "\(text)")
    }
  }
}
