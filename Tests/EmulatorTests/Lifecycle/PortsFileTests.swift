import Emulator
import Foundation
import Platform
import TestSupport
import Testing

extension LiveTests {
  /// Whoever waits for the ports file may send a signal at once: it has to be asked for before.
  @Suite("the ports file")
  struct PortsFileTests {
    private let folder = ScratchFolder()

    /// An emulator that writes the file `path`; `moment` is called at the last moment to ask for signals.
    private func start(_ path: String, moment: () -> Void) throws {
      var options = ServeOptions()
      options.listeners = ListenerOptions(protocols: .off)
      options.listeners.console = .number(0)
      (options.credentials.certs, options.log.level, options.files.isEphemeral) = (
        try Site.path(), .error, true
      )
      options.files.ports = path
      SignalMask.blockSignalsOfWriting()
      let emulator = try Emulator(options: options)
      try emulator.start(beforeAnnouncing: moment)
      emulator.stop()
      emulator.run()
    }

    @Test("is not there before signals can be asked for")
    func plainFile() throws {
      let path = folder.path + "/ports.json"
      var seen: [Bool] = []
      try start(path) { seen.append(FileManager.default.fileExists(atPath: path)) }
      #expect(seen == [false])
    }

    @Test("says nothing to a pipe before signals can be asked for")
    func pipe() throws {
      let path = folder.path + "/pipe"
      try #require(mkfifo(path, 0o600) == 0)
      let reader = open(path, O_RDONLY | O_NONBLOCK)
      defer { close(reader) }
      var byte: UInt8 = 0
      var counts: [Int] = []
      try start(path) { counts.append(read(reader, &byte, 1)) }
      // The pipe has a writer, and is empty.
      #expect(counts == [-1])
      #expect(read(reader, &byte, 1) == 1 && byte == UInt8(ascii: "{"))
    }
  }
}
