import Platform
import Transport

extension Emulator {
  /// Opens the files of the log and the capture again, for `logrotate`, which has moved them away.
  public func reopenFiles() {
    capture?.reopen()
    do throws(SocketError) {
      try logger.reopen()
      logger.log(.info, "files opened again")
    } catch {
      logger.log(.error, "the log goes on in the old file", [("because", .string("\(error)"))])
    }
  }

  /// Runs `handler` on the loop each time the process gets `number`. For a program that is this emulator alone: the
  /// signals of a process are not a library's.
  public func onSignal(_ number: Int32, _ handler: @escaping () -> Void) {
    let event = LoopEvent(loop, signal: number, handler: handler)
    event.start()
    signalEvents.append(event)
  }
}
