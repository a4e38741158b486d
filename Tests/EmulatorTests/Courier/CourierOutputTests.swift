import Basics
import Courier
import CourierWire
import Platform
import PushModel
import Testing

import Broker
import Emulator
import Transport

extension LiveTests {
  @Suite("Courier, before the first welcome and behind the end")
  struct CourierOutputTests {
    /// The emulator's side of the only device connection.
    private func served(_ harness: EmulatorHarness) throws -> SocketConnection {
      try #require(harness.connections("courier").first)
    }

    /// A session that has accepted a simulated device.
    private func begin(_ output: CourierOutput) {
      var request = ConnectRequest()
      request.simulatedDevice = ConnectRequest.withPhone
      let now = SystemClock.now()
      var session = CourierServerSession(acceptedAt: now)
      let frame = request.encoded
      let body = frame.span.dropping(CourierLimits.headerByteCount)
      _ = session.frameReceived(CourierFrame(commandByte: frame[0], body: body), at: now)
      _ = session.identityAccepted(
        request, baseToken: DeviceToken(), tokenWasKnown: true, at: now, date: Timestamp(seconds: 0))
      output.begin(session)
    }

    @Test("what a device did not ask for is queued between its first welcome and the end of its session only")
    func unsolicited() throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness)
      device.open()
      // The emulator's side is open, too, when it answers.
      device.roundTrip()
      let connection = try served(harness)
      let output = CourierOutput(harness.emulator.courier, connection, nil)
      let topic = try TopicHash.app()
      func tellAll() {
        output.tell(NoStorage(baseToken: DeviceToken()).encoded)
        output.tell(PhoneOrderCommand(number: 1))
        output.appChanged(topic, .remove)
      }
      tellAll()
      #expect(connection.queuedBytes == 0)
      output.answer(KeepAliveAnswer().encoded)
      #expect(connection.queuedBytes == 5, "an answer is queued whatever there is")
      harness.passPause()
      begin(output)
      tellAll()
      harness.turn(until: "all of it has come") { device.frames.count == 5 }
      #expect(device.frames.map(\.command) == [0x0d, 0x0d, 0x0e, 0x71, 0x70])
      output.end()
      tellAll()
      #expect(connection.queuedBytes == 0)
    }

    @Test("a push of the turn in which a session ends by a refusal does not follow it, and comes later")
    func behindRefusal() throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      harness.passPause()
      let connection = try served(harness)
      let handler = try #require(connection.handler)
      // All of this is one turn: another device on the connection has no proof, and then there is a push.
      handler.connection(connection, received: ConnectRequest().encoded.span)
      #expect(try harness.submit(token.bytes).rejection == nil)
      harness.turn(until: "it ends") { device.recorder.hasEnded }
      #expect(device.frames.last?.command == 0x08 && device.messages.isEmpty)
      let again = try harness.returningDevice()
      again.waitForMessages(1)
    }

    @Test("receipts of a stranger mean nothing, whatever is in them and however many they are")
    func strangersReceipts() throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness)
      device.open()
      device.send(bytes("0b 00000002 0500"))
      device.send((0...1024).flatMap { Acknowledgement(messageId: UInt32($0)).encoded })
      device.send(try ConnectRequest.proving(harness.identity("phone-1")))
      harness.turn(until: "it is welcomed") { device.welcome?.status == 0 }
      #expect(device.frames.count == 1)
    }
  }
}
