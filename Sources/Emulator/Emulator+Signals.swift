import Transport

extension Emulator {
  /// Runs `handler` on the loop each time the process gets `number`. For whoever embeds the emulator.
  public func onSignal(_ number: Int32, _ handler: @escaping () -> Void) {
    let event = LoopEvent(loop, signal: number, handler: handler)
    event.start()
    signalEvents.append(event)
  }
}
