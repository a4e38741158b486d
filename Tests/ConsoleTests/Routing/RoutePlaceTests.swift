import Console
import Testing

@Suite("Where a cluster carries routes out") struct RoutePlaceTests {
  private let routes = ConsoleLab().console.table.routes

  private func isAtLeader(_ route: Route, of device: RouteDevice) -> Bool {
    switch (route.place, device) {
    case (.leader(.udid), .udid), (.leader(.udidOfBody), .udidOfBody),
      (.leader(.tokenOrUDIDOfBody), .tokenOrUDIDOfBody):
      true
    default: false
    }
  }

  private func route(_ method: String, _ pattern: String) throws -> Route {
    try #require(routes.first { $0.method == method && $0.pattern.text == pattern })
  }

  @Test("whatever has a device in its path is answered by the device's node, and one of it has no end")
  func paths() {
    let ofDevices = routes.filter { $0.pattern.names.contains("udid") }
    #expect(ofDevices.count >= 11 && ofDevices.allSatisfy { isAtLeader($0, of: .udid) })
    #expect(ofDevices.filter(\.isStanding).map(\.pattern.text) == ["/api/v1/devices/{udid}/stream"])
  }

  @Test("so is what names a device or its token in its body, and what is asked of all devices is not")
  func bodies() throws {
    #expect(try isAtLeader(route("POST", "/api/v1/push"), of: .tokenOrUDIDOfBody))
    #expect(try isAtLeader(route("PUT", "/api/v1/tokens/{token}"), of: .udidOfBody))
    for pattern in ["/api/v1/devices", "/api/v1/tokens", "/api/v1/tokens/{token}"] {
      guard case .here = try route("GET", pattern).place else {
        Issue.record("\(pattern)")
        continue
      }
    }
  }

  @Test("clock, faults and resets are done by all in one order, an import by each for its own")
  func everywhere() throws {
    for (method, pattern) in [
      ("PUT", "/api/v1/clock"), ("POST", "/api/v1/faults"), ("DELETE", "/api/v1/faults/{name}"),
      ("POST", "/api/v1/reset"), ("POST", "/api/v1/advice/complete"),
    ] {
      guard case .ordered = try route(method, pattern).place else {
        Issue.record("\(pattern)")
        continue
      }
    }
    guard case .spread = try route("POST", "/api/v1/import").place else {
      Issue.record("import")
      return
    }
  }
}
