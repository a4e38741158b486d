import Basics
import Foundation
import Platform
import Testing

extension LiveTests {
  @Suite("A program with all that it starts")
  struct ProcessFamilyTests {
    private static let mark = "APNS_TEST_FAMILY"

    private static func start(_ script: String) throws -> ProcessFamily {
      try ProcessFamily(
        ["sh", "-c", script], variables: [mark: "\(UUID())", "GREETING": "hello"], mark: mark)
    }

    /// All that it says, until nobody can say more.
    private static func output(of family: ProcessFamily) -> String {
      var said: [UInt8] = []
      while true {
        guard let bytes = family.read(atMost: 1000) else {
          WorkerThread.sleep(microseconds: 1000)
          continue
        }
        if bytes.isEmpty { return String(decoding: said, as: UTF8.self) }
        said += bytes
      }
    }

    private static func awaitEnd(_ family: ProcessFamily) {
      while !family.hasEnded { WorkerThread.sleep(microseconds: 1000) }
    }

    @Test(
      "both of its outputs are read to their end, with its variables, and its status is told",
      .timeLimit(.minutes(1)))
    func output() throws {
      let family = try Self.start("echo $GREETING; cat; echo two >&2; exit 3")
      #expect(Self.output(of: family) == "hello\ntwo\n")
      Self.awaitEnd(family)
      #expect(family.reap() == 3 && family.reap() == 3 && family.hasEnded)
    }

    @Test("one that there is not can't be started")
    func unknown() {
      #expect(throws: SocketError.self) {
        try ProcessFamily(["no-such-program-here"], variables: [:], mark: Self.mark)
      }
    }

    @Test("all of its group are asked to end", .timeLimit(.minutes(1)))
    func terminate() throws {
      let family = try Self.start("sleep 1000 & echo ready; wait")
      while family.read(atMost: 10) == nil { WorkerThread.sleep(microseconds: 1000) }
      family.terminate()
      #expect(Self.output(of: family) == "")
      Self.awaitEnd(family)
      #expect(family.reap() == 128 + SIGTERM)
    }

    @Test("one that does not want to end is made to", .timeLimit(.minutes(1)))
    func kill() throws {
      let family = try Self.start("trap '' TERM; echo ready; while :; do sleep 1; done")
      while family.read(atMost: 10) == nil { WorkerThread.sleep(microseconds: 1000) }
      family.terminate()
      #expect(!family.hasEnded)
      family.killAll()
      Self.awaitEnd(family)
      #expect(family.reap() == 128 + SIGKILL)
    }

    #if os(Linux)
      @Test("what has left its group is found, and ended with it", .timeLimit(.minutes(1)))
      func strays() throws {
        let family = try Self.start("setsid sh -c 'echo ready; exec sleep 1000' & read line; exit 0")
        while family.read(atMost: 10) == nil { WorkerThread.sleep(microseconds: 1000) }
        Self.awaitEnd(family)
        #expect(family.others.count == 1)
        #expect(family.killAll() == 1)
        // Nobody has its output open any more.
        #expect(Self.output(of: family) == "")
        #expect(family.others.isEmpty && family.reap() == 0)
      }
    #endif
  }
}
