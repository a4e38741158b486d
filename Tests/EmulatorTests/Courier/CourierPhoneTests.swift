import Basics
import Broker
import Console
import CourierWire
import PushModel
import TestSupport
import Testing

import Emulator

extension LiveTests {
  /// Devices that say they have a phone, and those that don't (`Documentation/device-protocol.md#private-to-the-emulator`).
  @Suite("Courier, phones")
  struct CourierPhoneTests {
    private static let document = Array(#"{"iosVersion":"18"}"#.utf8)

    private func phone(_ harness: EmulatorHarness, _ udid: String = "phone-1") throws -> DeviceClient {
      let client = try DeviceClient(harness)
      _ = try client.connect(harness.identity(udid)) { $0.simulatedDevice = ConnectRequest.withPhone }
      return client
    }

    private func json(_ harness: EmulatorHarness, _ udid: String = "phone-1") throws -> JSONValue? {
      harness.emulator.phones.json(try #require(UDID(udid))).flatMap { JSONReader.read($0.encoded) }
    }

    @Test("the emulator's clock is told at connect and whenever it is moved, stopped or started")
    func clock() throws {
      let harness = try EmulatorHarness()
      let device = try phone(harness)
      let others = [try harness.device("phone-2"), try DeviceClient(harness)]
      _ = try others[1].connect(harness.identity("phone-3")) {
        $0.simulatedDevice = ConnectRequest.withoutPhone
      }
      harness.turn(until: "the clock is told") { device.orders.count == 1 }
      let first = try #require(device.orders[0].clock)
      #expect(!first.isFrozen && first.now <= UInt64(harness.clock.now().nanoseconds))
      harness.clock.setFrozen(true)
      harness.clock.advance(nanoseconds: 60_000_000_000)
      harness.clock.setFrozen(false)
      harness.clock.reset()
      harness.turn(until: "all of it is told") { device.orders.count == 5 }
      let told = device.orders.compactMap(\.clock)
      #expect(told.map(\.isFrozen) == [false, true, true, false, false])
      #expect(told[2].now - told[1].now == 60_000_000_000)
      #expect(told[4].now < told[3].now)
      #expect(device.orders.allSatisfy { $0.number == nil && $0.order.isEmpty })
      for other in others {
        other.roundTrip()
        #expect(other.orders.isEmpty)
      }
    }

    @Test("reports that are much work are read one a turn, whoever they are from, and none is lost")
    func costlyReports() throws {
      let harness = try EmulatorHarness()
      let devices = try (1...3).map { try phone(harness, "phone-\($0)") }
      let costly = Array("[\(Array(repeating: "[]", count: 20_000).joined(separator: ","))]".utf8)
      for device in devices {
        for number in 1...3 {
          device.send(PhoneReport(events: costly, document: Array("{\"number\":\(number)}".utf8)))
        }
      }
      func read() throws -> [Int64] {
        try (1...3).map {
          guard case .integer(let number)? = try json(harness, "phone-\($0)")?.member("number") else {
            return 0
          }
          return number
        }
      }
      var (most, busyTurns): (Int64, Int) = (0, 0)
      var before = try read()
      for _ in 0..<5000 where before != [3, 3, 3] {
        harness.loop.runTurn(wait: false)
        let after = try read()
        let count = after.reduce(0, +) - before.reduce(0, +)
        (most, busyTurns) = (max(most, count), busyTurns + (count > 0 ? 1 : 0))
        before = after
      }
      // One that comes where nobody waits is read at once, and the first of those who wait at the turn's end.
      #expect(before == [3, 3, 3] && most <= 2 && busyTurns >= 8, "\(most) in a turn, \(busyTurns) turns")
      for device in devices { device.roundTrip() }
    }

    @Test("an order goes to the phone, and its report is the answer")
    func order() throws {
      let harness = try EmulatorHarness()
      let device = try phone(harness)
      let udid = try #require(UDID("phone-1"))
      let phones = harness.emulator.phones
      #expect(phones.isConnected(udid))
      device.send(PhoneReport(document: Self.document))
      harness.turn(until: "the phone is known") { phones.json(udid) != nil }
      var answer: String?
      phones.order(["do": "close"], to: udid) {
        if case .done(let events) = $0 { answer = events.text }
      }
      harness.turn(until: "it is ordered") { device.orders.contains { !$0.order.isEmpty } }
      let order = try #require(device.orders.last)
      #expect(order.order == Array(#"{"do":"close"}"#.utf8) && order.number != nil)
      device.send(PhoneReport(number: order.number, events: Array("[]".utf8), document: Self.document))
      harness.turn(until: "it is answered") { answer != nil }
      #expect(answer == "[]")
      device.disconnect()
      #expect(!phones.isConnected(udid))
      #expect(try json(harness)?.member("online")?.text == "false")
    }

    @Test("a phone hears which notification of the history a message is; nobody else does")
    func notificationId() throws {
      let harness = try EmulatorHarness()
      let device = try phone(harness)
      let plain = try DeviceClient(harness)
      _ = try plain.connect(harness.identity("phone-2")) {
        $0.simulatedDevice = ConnectRequest.withoutPhone
      }
      let provider = try harness.provider()
      for (client, number) in [(device, UInt32(1)), (plain, 2)] {
        let token = try client.mint(Site.topic)
        client.filter([Site.topic])
        client.roundTrip()
        provider.send(Frames.full(token, id: number, payload: Frames.text("\(number)")))
        client.waitForMessages(1)
      }
      let newest = harness.broker.journal.nextId - 1
      #expect(device.messages[0].notificationId == newest - 1)
      #expect(plain.messages[0].notificationId == nil)
    }

    @Test("a report from a client without a phone changes nothing")
    func stranger() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      device.send(PhoneReport(document: Self.document))
      device.roundTrip()
      #expect(try json(harness) == nil && !device.recorder.hasEnded)
    }

    @Test("who tells of its phone without end is disconnected, and who is asked is not")
    func tooOften() throws {
      let harness = try EmulatorHarness()
      let device = try phone(harness)
      let udid = try #require(UDID("phone-1"))
      var answered = 0
      for _ in 0..<300 {
        let before = answered
        let number = try #require(
          harness.emulator.phones.order(["do": "close"], to: udid) { _ in answered += 1 })
        device.send(PhoneReport(number: number))
        harness.turn(until: "it is answered") { answered > before }
      }
      #expect(!device.recorder.hasEnded)
      for _ in 0..<1000 { device.send(PhoneReport(document: Self.document)) }
      harness.turn(until: "it is disconnected") { device.recorder.hasEnded }
    }

    @Test("a reset of devices ends the phone's connection, and its next one is known again")
    func reset() throws {
      let harness = try EmulatorHarness()
      let device = try phone(harness)
      let udid = try #require(UDID("phone-1"))
      let phones = harness.emulator.phones
      device.send(PhoneReport(document: Self.document))
      harness.turn(until: "the phone is known") { phones.json(udid) != nil }
      harness.broker.forgetDevices(now: harness.clock.now())
      phones.forgetAll()
      harness.turn(until: "it is disconnected") { device.recorder.hasEnded }
      harness.turn(until: "the emulator knows it") { !phones.isConnected(udid) }
      let again = try phone(harness)
      again.send(PhoneReport(document: Self.document))
      harness.turn(until: "the phone is known again") { phones.json(udid) != nil }
    }
  }
}
