import Platform
import Runtime

/// Looks whether the ports are free before anything else is touched: a second emulator in one folder should hear of the
/// port, not of the store.
enum PortProbe {
  static func check(_ options: ServeOptions) throws {
    let listeners = [
      ("gateway", options.listeners.gateway), ("feedback", options.listeners.feedback),
      ("provider", options.listeners.provider),
      ("courier", options.listeners.courier), ("console", options.listeners.console),
      ("proxy", options.listeners.proxy),
    ]
    for (name, port) in listeners {
      guard case .number(let number) = port, number > 0 else { continue }
      try probe(name, SocketAddress(host: options.listeners.bind, port: number))
    }
  }

  private static func probe(_ name: String, _ address: SocketAddress) throws {
    do {
      SocketCalls.close(try SocketCalls.listen(address, backlog: 1))
    } catch let error as SocketError where error.operation == SocketCalls.listening {
      throw inUse(name, error, address.port)
    }
  }

  /// Names the listener, the address and, where the system tells, who has it.
  static func inUse(_ name: String, _ error: SocketError, _ port: UInt16) -> EmulatorError {
    guard error.isAddressInUse else { return EmulatorError(.failed, "\(name): \(error)") }
    let owner = PortOwner.describe(port: port).map { "; \($0) has it" } ?? ""
    return EmulatorError(
      .portInUse, "\(name): \(error)\(owner); choose another with --\(name)-port (0: any free port)")
  }
}
