import Cluster
import Platform
import PushModel
import Transport

/// What a node and the others of its cluster have to do with each other: its listener for them, and its connections to them.
///
///     other node ── link ────→ NodesListener ─→ `onLink`
///                ── device ──→               ─→ the courier
///                ── console ─→               ─→ the console's server
///     this node ─→ `caller` ── hello ─→ another node's listener
final class NodesService {
  let cluster: any ClusterView
  /// Makes connections to other nodes.
  let caller: NodeCaller
  /// Takes what another node has to tell this one; the handler is its to set, and whether what it sends waits for commits
  /// (`waitsForCommits`, which is on). nil: nobody is taken.
  var onLink: ((_ peer: String, SocketConnection) -> Void)?
  private let loop: EventLoop
  private let logger: Logger
  private var listener: NodesListener?

  init(loop: EventLoop, cluster: any ClusterView, logger: Logger) {
    (self.loop, self.cluster, self.logger) = (loop, cluster, logger)
    caller = NodeCaller(loop: loop, cluster: cluster, logger: logger)
  }

  /// Opens the listener for other nodes, which lead to parts of `emulator`.
  func listen(on address: SocketAddress, _ emulator: Emulator) throws -> SocketListener {
    var takers = NodesListener.Takers(
      patience: { [caller] in caller.patience },
      link: { [unowned self] in onLink?($0, $1) },
      console: { [unowned emulator] in emulator.console?.adopt(node: $1) },
      device: { _, _, connection in connection.abort("there is no courier", reset: true) })
    takers.refusal = { [unowned self, unowned emulator] in refusal($0, emulator) }
    let listener = try NodesListener(
      loop: loop, address: address, cluster: cluster, logger: logger, takers: takers)
    self.listener = listener
    return listener.listener
  }

  private func refusal(_ kind: NodeHello.Kind, _ emulator: Emulator) -> String? {
    if emulator.shutdown?.hasBegun == true { return "the node is shutting down" }
    switch kind {
    case .link: return onLink == nil ? "the node takes no links yet" : nil
    case .console: return emulator.console == nil ? "the node has no console" : nil
    case .device: return nil
    }
  }
}
