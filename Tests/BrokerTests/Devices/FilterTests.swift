import Basics
import PushModel
import TestSupport
import Testing

@testable import Broker

@Suite("Filters of devices with many rows")
struct FilterTests {
  let lab = Lab()
  /// More than are walked through for each topic.
  private let names = (0..<3 * CrowdedDevices.walkLimit).map { "com.example.app\($0)" }

  @Test("a filter that says nothing new looks at no row, and one that does at those of its topics")
  func proportional() throws {
    for name in names { _ = try lab.row("phone", name) }
    let phone = try lab.connect(enabling: names)
    let walked = lab.broker.registry.walkedRows
    for _ in 0..<10 { try lab.enable(names, on: phone) }
    try lab.enable([], on: phone)
    for _ in 0..<10 { try lab.enable([], on: phone) }
    for name in names { try lab.enable([name], on: phone) }
    #expect(lab.broker.registry.walkedRows == walked)
    for name in names.dropLast() { #expect(lab.slot(try lab.row("phone", name)).session == nil) }
    #expect(lab.slot(try lab.row("phone", names[names.count - 1])).session != nil)
  }

  @Test("asking for a token walks through no rows of a device that has many")
  func tokens() throws {
    for name in names { _ = try lab.row("phone", name) }
    let phone = try lab.connect()
    let session = try #require(phone.session)
    let walked = lab.broker.registry.walkedRows
    for name in names { _ = lab.broker.apps.appToken(session, topic: try lab.hash(name), now: lab.now) }
    #expect(lab.broker.apps.appToken(session, topic: try lab.hash("com.example.new"), now: lab.now) != nil)
    #expect(lab.broker.registry.walkedRows == walked)
    #expect(lab.broker.registry.registrationCount == names.count + 1)
  }

  @Test(
    "whatever filters say one after the other, messages of exactly the installed apps in the last go there")
  func random() throws {
    var choices = SeededChoices(seed: 7)
    var rows: [(name: String, row: RegistrationID)] = []
    for name in names { rows.append((name, try lab.row("phone", name))) }
    let phone = try lab.connect()
    let session = try #require(phone.session)
    for round in 0..<40 {
      let wanted = names.filter { _ in choices.whole(upTo: 2) == 0 }
      try lab.enable(wanted, on: phone)
      let gone = rows[Int(choices.whole(upTo: Int64(rows.count - 1)))]
      _ = lab.broker.apps.change(
        round % 2 == 0 ? .remove : .reinstall, device: try lab.device(), topic: try lab.topic(gone.name),
        environment: .sandbox, now: lab.now)
      for (name, _) in rows {
        let installed = lab.broker.registry.installed(try lab.device(), try lab.topic(name), .sandbox)
        for row in lab.broker.registry.registrations(of: try lab.device(), try lab.topic(name)) {
          let isWanted = row == installed && wanted.contains(name)
          #expect(lab.slot(row).session == (isWanted ? session.id : nil), "\(name) in round \(round)")
        }
      }
    }
  }

  @Test(
    "an app that was removed with a message waiting is reported by the next filter, even if that is the same")
  func removedWhileThere() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: ["com.example.other"])
    lab.push(row, "kept", expiration: lab.time(in: 3600))
    let removed = lab.broker.apps.change(
      .remove, device: try lab.device(), topic: try lab.topic(), environment: .sandbox, now: lab.now)
    #expect(removed == nil && lab.broker.registry[row].isActive)
    try lab.enable(["com.example.other"], on: phone)
    #expect(!lab.broker.registry[row].isActive)
  }

  @Test("the rows of a device are found by topic as they were before there were many")
  func crowded() throws {
    let (device, topic) = (try lab.device(), try lab.topic())
    for _ in 0...2 * CrowdedDevices.walkLimit {
      _ = lab.broker.apps.change(
        .reinstall, device: device, topic: topic, environment: .sandbox, now: lab.now)
    }
    let registry = lab.broker.registry
    #expect(registry.registrations(of: device, topic) == registry.registrations(of: device).reversed())
    #expect(registry.installed(device, topic, .sandbox) == registry.registrations(of: device).first)
    #expect(registry.installed(device, topic, .production) == nil)
    let installs = registry.registrations(of: device, topic).map { registry[$0].install }
    #expect(installs == Array(1...Int32(installs.count)))
    lab.broker.forgetDevices(now: lab.now)
    _ = try lab.row()
    #expect(registry.registrations(of: try lab.device(), topic).count == 1)
  }
}
