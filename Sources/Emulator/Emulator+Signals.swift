import Platform
import Transport

extension Emulator {
  /// SIGHUP, as `logrotate` sends it after it has moved files away: the log and the capture go on under their names.
  func reopenFilesOnSignal() {
    onSignal(SIGHUP) { [unowned self] in
      capture?.reopen()
      do throws(SocketError) {
        try logger.reopen()
        logger.log(.info, "files opened again")
      } catch {
        logger.log(.error, "the log goes on in the old file", [("because", .string("\(error)"))])
      }
    }
  }

  /// Runs `handler` on the loop each time the process gets `number`. For whoever embeds the emulator.
  public func onSignal(_ number: Int32, _ handler: @escaping () -> Void) {
    let event = LoopEvent(loop, signal: number, handler: handler)
    event.start()
    signalEvents.append(event)
  }
}
