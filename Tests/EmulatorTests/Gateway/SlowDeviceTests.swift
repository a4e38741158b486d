import LegacyWire
import PushModel
import Testing

import Broker
import Emulator
import Transport

extension LiveTests {
  @Suite("Gateway, devices that can't follow")
  struct SlowDeviceTests {
    /// A device that has stopped reading, its token, and a provider.
    private func stage(
      _ harness: EmulatorHarness
    ) throws -> (device: DeviceClient, token: DeviceToken, provider: LegacyClient) {
      // Nobody waits by the emulator's clock.
      harness.clock.setFrozen(true)
      let (device, token) = try harness.listener()
      harness.passPause()
      harness.connections("courier").first?.setSendBuffer(4096)
      device.connection.setPaused(true)
      return (device, token, try harness.provider())
    }

    private func frames(_ token: DeviceToken, _ ids: ClosedRange<Int>) -> [UInt8] {
      ids.flatMap { Frames.full(token, id: UInt32($0), payload: Frames.text("\($0)")) }
    }

    /// Sends so many frames, a thousand at a time.
    private func flood(_ provider: LegacyClient, _ token: DeviceToken, _ count: Int) {
      for start in stride(from: 1, to: count, by: 1000) { provider.send(frames(token, start...start + 999)) }
    }

    private func untilHeldBack(_ harness: EmulatorHarness, sourceLocation: SourceLocation = #_sourceLocation)
    {
      harness.turn(until: "the provider is held back", sourceLocation: sourceLocation) {
        harness.connections("gateway").contains(where: \.isPaused)
      }
    }

    @Test("a provider is held back while a device does not follow, but not for ever, and nothing is refused")
    func heldBack() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try stage(harness)
      let count = 60_000
      flood(provider, token, count)
      untilHeldBack(harness)
      // A device that makes no progress at all is not waited for, also while the emulator's clock runs backwards.
      harness.turn(until: "all are accepted") {
        harness.clock.advance(nanoseconds: -2_000_000_000)
        return harness.broker.counters.accepted == UInt64(count)
      }
      #expect(!provider.recorder.hasEnded && provider.recorder.received.isEmpty)
      // What was sent is bounded, what came later is in its slot, and the newest arrives when the device reads.
      #expect(harness.broker.counters.sent <= UInt64(DeviceLink.windowLimit))
      device.connection.setPaused(false)
      device.acknowledgeAll(until: "the newest arrives") { $0.payload == Frames.text("\(count)") }
      harness.turn(until: "all is acknowledged") { !harness.broker.deliveries.hasUnacknowledged }
      let ids = device.messages.map(\.messageId)
      #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("a device that was idle for long is waited for all the same once it has something to do")
    func idleBefore() throws {
      let harness = try EmulatorHarness()
      let (_, token, provider) = try stage(harness)
      harness.clock.advance(nanoseconds: 3600 * 1_000_000_000)
      provider.send(frames(token, 1...6000))
      untilHeldBack(harness)
    }

    @Test("a provider that is held back goes on when the device acknowledges, without the clock")
    func goesOn() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try stage(harness)
      let count = 20_000
      flood(provider, token, count)
      untilHeldBack(harness)
      device.connection.setPaused(false)
      device.acknowledgeAll(until: "all are accepted and the newest arrives") {
        $0.payload == Frames.text("\(count)")
      }
      #expect(harness.broker.counters.accepted == UInt64(count))
    }

    @Test(
      "a device that acknowledges now and then does not hold its provider back for ever, nor what is for others"
    )
    func slowAcknowledgements() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try stage(harness)
      let (other, otherToken) = try harness.listener("phone-2")
      device.connection.setPaused(false)
      let count = 60_000
      flood(provider, token, count)
      provider.send(frames(otherToken, (count + 1)...(count + 1)))
      untilHeldBack(harness)
      var acknowledged = 0
      harness.turn(until: "the other device is served") {
        if acknowledged < device.messages.count { device.acknowledge(device.messages[acknowledged]) }
        acknowledged += 1
        return !other.messages.isEmpty
      }
      #expect(harness.broker.counters.accepted == UInt64(count) + 1)
    }

    @Test("a provider that is held back is told at shutdown how far it really got")
    func shutdown() throws {
      let harness = try EmulatorHarness()
      let (_, token, provider) = try stage(harness)
      flood(provider, token, 60_000)
      untilHeldBack(harness)
      harness.stop()
      let accepted = harness.broker.counters.accepted
      #expect(accepted < 60_000)
      #expect(provider.readToEnd() == LegacyErrorPacket(status: 10, identifier: UInt32(accepted)).bytes)
    }

    @Test("other devices are served while one does not follow")
    func others() throws {
      let harness = try EmulatorHarness()
      let (_, token, provider) = try stage(harness)
      let (other, otherToken) = try harness.listener("phone-2")
      flood(provider, token, 20_000)
      untilHeldBack(harness)
      let second = try harness.provider()
      second.send(frames(otherToken, 1...10))
      other.waitForMessages(10)
    }
  }
}
