import Basics
import Broker
import PushModel
import Testing

import Console

@Suite struct DevicesTests {
  private let apps = "/api/v1/devices/phone/apps/com.example.app"

  @Test("A device shows its connections, topics and kept messages")
  func device() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    let id = try lab.push(token.bytes, #"{"aps": {"badge": 1}}"#)
    var device = try lab.get("/api/v1/devices/phone")
    #expect(device["online"].bool == false && device["connections"].count == 0)
    #expect(device["keptMessages"][0]["id"].integer == Int64(id))
    #expect(device["keptMessages"][0]["payload"]["aps"]["badge"].integer == 1)
    _ = try lab.connect()
    device = try lab.get("/api/v1/devices")["devices"][0]
    #expect(device["online"].bool == true)
    #expect(device["connections"][0]["enabledTopics"].text == #"["com.example.app"]"#)
    #expect(device["topics"][0]["token"].string == token.hex)
    #expect(device["topics"][0]["enabled"].bool == true)
    #expect(try lab.get("/api/v1/devices?online=false")["devices"].count == 0)
    _ = try lab.refusal("GET", "/api/v1/devices/nobody", 404)
    _ = try lab.refusal("GET", "/api/v1/devices/a%20b", 400)
  }

  @Test("What a reinstall has left behind receives nothing, though its topic does")
  func goneToken() throws {
    let lab = ConsoleLab()
    let old = try lab.install()
    _ = try lab.connect()
    #expect(try lab.ask("POST", "\(apps)/reinstall").status == 200)
    // The phone tells of it at the next push.
    try lab.push(old.bytes, "{}")
    let topics = try lab.get("/api/v1/devices/phone")["topics"]
    try #require(topics.count == 2)
    for index in 0..<2 {
      let isOld = topics[index]["token"].string == old.hex
      #expect(topics[index]["state"].string == (isOld ? "gone" : "active"))
      #expect(topics[index]["enabled"].bool == !isOld)
    }
  }

  @Test("A device that has as many installs as it may is told how many that are")
  func fullDevice() throws {
    let lab = ConsoleLab()
    try lab.install()
    let device = try #require(UDID("phone").flatMap(lab.broker.registry.knownDevice))
    let token = { (number: Int) in
      [UInt8](repeating: 7, count: 30) + [
        UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number),
      ]
    }
    for number in 2...4096 {
      var row = TokenRow()
      (row.token, row.install) = (DeviceToken(bytes: token(number)), Int32(number))
      row.isAbandoned = true
      #expect(lab.broker.rows.admit(row, of: device, 0, because: .imported, now: lab.now) != nil)
    }
    for (app, action) in [("com.example.app", "reinstall"), ("com.example.other", "install")] {
      let sentence = try lab.refusal("POST", "/api/v1/devices/phone/apps/\(app)/\(action)", 409)
      #expect(sentence.contains("the limit of 4096 is reached for phone's installs, reinstalls included"))
    }
    // What is there stays there.
    #expect(try lab.ask("POST", "\(apps)/install").status == 200)
    #expect(try lab.ask("POST", "\(apps)/remove").status == 200)
  }

  @Test("Installing makes the device known, and the emulator's environment is the default")
  func install() throws {
    let lab = ConsoleLab()
    let response = try lab.ask("POST", "\(apps)/install")
    #expect(response.status == 200)
    let row = try #require(JSONReader.read(response.body))
    #expect(row["udid"].string == "phone" && row["environment"].string == "sandbox")
    #expect(row["install"].integer == 1)
    #expect(try lab.ask("POST", "\(apps)/install?environment=production", json: "{}").status == 200)
    #expect(try lab.get("/api/v1/tokens?environment=production")["tokens"].count == 1)
  }

  @Test("An update keeps the token, a reinstall gives another, a removal takes it away")
  func actions() throws {
    let lab = ConsoleLab()
    let token = try lab.install().hex
    let phone = try lab.connect()
    func act(_ action: String) throws -> JSONValue {
      let response = try lab.ask("POST", "\(apps)/\(action)")
      return try #require(JSONReader.read(response.body))
    }
    #expect(try act("update")["token"].string == token)
    let second = try act("reinstall")
    #expect(second["token"].string != token && second["install"].integer == 2)
    #expect(try act("remove")["installed"].bool == false)
    #expect(phone.changes == [.update, .reinstall, .remove])
    _ = try lab.refusal("POST", "\(apps)/remove", 404)
    _ = try lab.refusal("POST", "\(apps)/update", 404)
    #expect(try act("reinstall")["install"].integer == 3)
  }

  @Test("Actions on a phone or app that is not there, or in no known environment, say so")
  func refused() throws {
    let lab = ConsoleLab()
    for action in ["update", "reinstall", "remove"] {
      #expect(try lab.refusal("POST", "\(apps)/\(action)", 404).contains("phone"))
    }
    for action in ["erase", "disconnect"] {
      _ = try lab.refusal("POST", "/api/v1/devices/phone/\(action)", 404)
    }
    _ = try lab.refusal("POST", "\(apps)/install?environment=moon", 400)
    _ = try lab.refusal("POST", "/api/v1/devices/phone/apps/a%20b/install", 400)
    _ = try lab.refusal("POST", "\(apps)/paint", 404)
    #expect(try lab.get("/api/v1/devices")["devices"].count == 0, "a refused action leaves no trace")
  }

  @Test("Erasing ends the connection and every app; disconnecting only the connection")
  func eraseAndDisconnect() throws {
    let lab = ConsoleLab()
    try lab.install()
    let phone = try lab.connect()
    let first = try lab.ask("POST", "/api/v1/devices/phone/disconnect")
    #expect(JSONReader.read(first.body)?["disconnected"].bool == true)
    #expect(phone.endReasons.count == 1)
    let second = try lab.ask("POST", "/api/v1/devices/phone/disconnect")
    #expect(JSONReader.read(second.body)?["disconnected"].bool == false)
    let erased = try lab.ask("POST", "/api/v1/devices/phone/erase")
    #expect(JSONReader.read(erased.body)?["topics"][0]["installed"].bool == false)
    #expect(JSONReader.read(erased.body)?["identity"].integer == 2)
  }
}
