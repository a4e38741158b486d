import Basics
import SimulatedDevice
import Testing

@Suite("Reconnecting")
struct ReconnectTests {
  /// The waits between attempts at a courier that takes no connection, in milliseconds.
  private func waits(seed: UInt64, count: Int) throws -> [Int64] {
    let world = try World(seed: seed)
    world.isReachable = false
    world.give(.start)
    return (0..<count).map { _ in world.advanceToWake() }
  }

  @Test("waits longer each time, half of it by chance, up to a minute")
  func doubling() throws {
    let waits = try waits(seed: 1, count: 9)
    for (wait, full) in zip(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]) {
      #expect(wait >= Int64(full) * 500 && wait <= Int64(full) * 1000 + 1)
    }
  }

  @Test("looks every few seconds where nobody takes connections, however long, and then begins anew")
  func nobodyThere() throws {
    let world = try World()
    (world.isReachable, world.isNobodyThere) = (false, true)
    world.give(.start)
    for full in [1, 2] + Array(repeating: 4, count: 30) as [Int64] {
      let wait = world.advanceToWake()
      #expect(wait >= full * 500 && wait <= full * 1000 + 1)
    }
    world.isReachable = true
    #expect(world.advanceToWake() <= 4000)
    #expect(world.isConnected)
    world.breakConnection()
    #expect(world.advanceToWake() <= 1000)
  }

  @Test("takes what a service that moves it ends for no failure, three times in a row, whatever was before")
  func moved() throws {
    let world = try World()
    world.isReachable = false
    world.give(.start)
    for _ in 0..<6 { _ = world.advanceToWake() }
    world.isReachable = true
    _ = world.advanceToWake()
    for _ in 0..<3 {
      #expect(world.isConnected)
      world.advance(seconds: 1)
      world.breakConnection()
      #expect(world.advanceToWake() <= 1000)
    }
    world.breakConnection()
    #expect(world.advanceToWake() >= 1000)
  }

  @Test("waits the same with the same seed, and differently with another")
  func seeded() throws {
    let first = try waits(seed: 7, count: 4)
    #expect(try waits(seed: 7, count: 4) == first)
    #expect(try waits(seed: 8, count: 4) != first)
  }

  @Test("begins anew after a connection that lasted, not after one that broke at once")
  func stable() throws {
    let world = try World()
    world.give(.start)
    for _ in 0..<4 {
      world.breakConnection()
      _ = world.advanceToWake()
    }
    world.advance(seconds: 1)
    world.breakConnection()
    #expect(world.advanceToWake() > 1000)
    world.advance(seconds: 2)
    world.breakConnection()
    #expect(world.advanceToWake() <= 1000)
  }

  @Test("waits no longer because somebody has set the date", arguments: [-3600, 3600] as [Int64])
  func dateSet(seconds: Int64) throws {
    let world = try World()
    world.give(.start)
    world.breakConnection()
    world.date = world.date.adding(nanoseconds: seconds * 1_000_000_000)
    #expect(world.advanceToWake() <= 1000)
    #expect(world.isConnected)
    let nonce = try #require(world.courier.requests.last?.nonce)
    let milliseconds = UInt64(1_700_000_000_000 + seconds * 1000)
    #expect(Array(nonce[1..<9]) == withUnsafeBytes(of: milliseconds.bigEndian) { Array($0) })
  }

  @Test("keeps the wait growing while connections break at once")
  func flapping() throws {
    let world = try World()
    world.give(.start)
    var attempts = 0
    for _ in 0..<600 {
      if world.isConnected {
        attempts += 1
        world.breakConnection()
      }
      world.advance(seconds: 1)
    }
    #expect(attempts < 30)
  }
}
