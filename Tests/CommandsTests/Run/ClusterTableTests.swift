import Basics
import Testing

import Commands

@Suite("The table of a cluster") struct ClusterTableTests {
  private func zone(_ number: Int64, _ owner: String?, _ seat: String = "here", moving: Bool = false)
    -> JSONValue
  {
    [
      "zone": .integer(number), "owner": .optional(owner), "seat": .string(seat), "moving": .bool(moving),
      "trouble": number == 4 ? "the stream is full" : nil,
    ]
  }

  private func cluster(_ zones: [JSONValue], because: String? = nil, waiting: Int64 = 0) -> JSONValue {
    [
      "name": "node-1", "ready": .bool(because == nil), "because": .optional(because),
      "engine": ["servers": ["nats://127.0.0.1:4222"], "waitingMs": .integer(waiting)],
      "zoneCount": .integer(Int64(zones.count)),
      "nodes": [
        ["name": "node-1", "devices": 5, "console": "127.0.0.1:8790", "draining": false, "isThis": true],
        ["name": "node-2", "devices": 0, "console": nil, "draining": true, "isThis": false],
      ], "zones": .array(zones),
    ]
  }

  @Test("nodes with their zones, and that all is well")
  func well() {
    let zones = [zone(0, "node-1"), zone(1, "node-1"), zone(2, "node-2", "elsewhere"), zone(3, "node-1")]
    #expect(
      ClusterTable.lines(cluster(zones)) == [
        "node-1 sees 4 zones, NATS server nats://127.0.0.1:4222", "",
        "NODE    ZONES     DEVICES  CONSOLE         STATE",
        "node-1  3: 0-1 3  5        127.0.0.1:8790  asked",
        "node-2  1: 2      0        –               hands over", "", "ready",
      ])
    #expect(ClusterTable.isWell(cluster(zones)))
  }

  @Test("a node that is gone still has its zones, and what is wrong is said")
  func wrong() {
    let zones = [
      zone(0, "node-3", "nowhere"), zone(1, nil, "nowhere"), zone(2, "node-1", "nowhere", moving: true),
      zone(4, "node-1"),
    ]
    let lines = ClusterTable.lines(cluster(zones, because: "2 of 4 zones have no leader", waiting: 1500))
    #expect(lines.contains { $0.hasPrefix("node-3  1: 0") && $0.hasSuffix("gone") })
    #expect(
      lines.suffix(5) == [
        "not ready: 2 of 4 zones have no leader", "node-1 has waited for the NATS server for 1500 ms",
        "zones without a leader: 0-1", "zones that are moving: 2", "zone 4: the stream is full",
      ])
  }

  @Test("a node that is away is told, and what to do")
  func away() {
    var members = cluster([zone(0, "node-1")])
    guard case .object(let known) = members else { return }
    members = .object(known + [("missing", ["node-3"])])
    let lines = ClusterTable.lines(members)
    #expect(lines.contains { $0.hasPrefix("node-3  none") && $0.hasSuffix("gone") })
    #expect(
      lines.last == "node-3 is missing: start it again, or, if it will not come back, `cluster forget node-3`"
    )
  }

  @Test("one cause is one line: the NATS server's, or that of several zones")
  func causes() {
    let zones = (3...6).map { number -> JSONValue in
      [
        "zone": .integer(number), "owner": "node-1", "seat": "nowhere", "moving": false,
        "trouble": number == 6 ? "full" : "late",
      ]
    }
    #expect(ClusterTable.lines(cluster(zones)).suffix(2) == ["zone 6: full", "zone 3-5: late"])
    guard case .object(let members) = cluster(zones, because: "the NATS server is unreachable", waiting: 9000)
    else {
      return
    }
    let away = JSONValue.object(
      members + [("engine", ["servers": [], "because": "the NATS server is unreachable"])])
    #expect(ClusterTable.lines(away).suffix(2) == ["", "not ready: the NATS server is unreachable"])
  }

  @Test("nothing is well of which something is said: zones that move, one with a trouble of its own")
  func unwell() {
    #expect(!ClusterTable.isWell(cluster([zone(0, "node-1"), zone(1, "node-2", "elsewhere", moving: true)])))
    #expect(!ClusterTable.isWell(cluster([zone(4, "node-1")])))
    #expect(!ClusterTable.isWell(cluster([zone(0, "node-1")], waiting: 1500)))
    #expect(!ClusterTable.isWell(cluster([zone(0, "node-1")], because: "the logs are being read")))
  }

  @Test("numbers are written as ranges", arguments: [([], ""), ([7], "7"), ([3, 1, 2, 9, 8], "1-3 8-9")])
  func ranges(_ numbers: [Int64], _ text: String) { #expect(ClusterTable.ranges(numbers) == text) }
}
