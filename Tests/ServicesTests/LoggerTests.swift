import Basics
import Foundation
import Platform
import TestSupport
import Testing

import Services

@Suite("Log")
struct LoggerTests {
  @Test("tokens in sentences are shortened, other values are not")
  func tokensInSentences() {
    let token = String(repeating: "0123456789abcdef", count: 4)
    let id = "123e4567-e89b-12d3-a456-4266554400A0"
    #expect(
      ShortToken.shortening(in: "got \"/3/device/\(token)/\", \(id)")
        == "got \"/3/device/0123456789abcdef…/\", \(id)")
    #expect(ShortToken.shortening(in: token.dropLast(45) + "") == "0123456789abcdef…")
    #expect(ShortToken.shortening(in: "0123456789ABCDEF") == "0123456789ABCDEF")
  }

  @Test("lines for a file that takes nothing are counted, and the log goes on")
  func fullDisk() throws {
    let logger = try Logger(LogOptions(file: "/dev/full"), clock: EmulatorClock())
    for _ in 1...3 {
      logger.log(.info, "something")
      logger.finish()
    }
    #expect(logger.unreadTotal == 3)
  }

  @Test("a line that finds no room is dropped whole, what is told of it is exact")
  func unreadPipe() throws {
    let folder = ScratchFolder()
    let path = folder.path + "/pipe"
    try #require(mkfifo(path, 0o600) == 0)
    // Without a reader it is not opened, and nobody waits for one.
    #expect(throws: SocketError.self) {
      _ = try Logger(LogOptions(file: path), clock: EmulatorClock())
    }
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let logger = try Logger(LogOptions(file: path), clock: EmulatorClock())
    let filling = String(repeating: "x", count: 1000)
    let count = 3 * BackgroundOutput.byteLimit / 1000
    for number in 1...count {
      logger.log(.info, "line", [("number", .integer(Int64(number))), ("filling", .string(filling))])
      logger.flush()
    }
    let unread = logger.unreadTotal
    #expect(unread > count / 2)
    let lines = readAll(of: logger, reader)
    #expect(lines.count { $0.hasSuffix(filling) && $0.contains(" info line number=") } == count - unread)
    #expect(lines.contains { $0.hasSuffix("log lines dropped count=\(unread)") })
    #expect(lines.last?.hasSuffix(" info last") == true)
    #expect(lines.count == count - unread + 2)
  }
  /// What a pipe's reader gets once the log has told of all that is missing, and of one line more; it has ended then.
  private func readAll(of logger: Logger, _ reader: Int32) -> [Substring] {
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    func drain() {
      while case let got = read(reader, &chunk, chunk.count), got > 0 { text += chunk[..<got] }
    }
    let end = SystemClock.now().adding(nanoseconds: 20_000_000_000)
    while logger.isOwingNotice, SystemClock.now() < end {
      drain()
      logger.flush()
    }
    logger.log(.info, "last")
    logger.flush()
    // More may wait than the pipe holds, and nobody else reads it.
    while !text.suffix(11).elementsEqual(" info last\n".utf8), SystemClock.now() < end {
      drain()
    }
    logger.finish()
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
  }
}
