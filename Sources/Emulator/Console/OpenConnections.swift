import Basics
import Cluster
import Console
import Courier
import Node
import Services
import Transport
import WaysIn

/// Open connections as the console is told of them (`Documentation/console-api.md`).
package struct OpenConnections {
  private unowned let listeners: Listeners
  private let memory: MemoryBudget
  private let streams: StreamService
  private let relay: EdgeTunnels?

  init(_ listeners: Listeners, _ memory: MemoryBudget, _ streams: StreamService, _ relay: EdgeTunnels?) {
    (self.listeners, self.memory, self.streams, self.relay) = (listeners, memory, streams, relay)
  }

  /// Each to be described when its turn comes.
  package func all() -> [() -> ConnectionReport] {
    let secure = listeners.all.flatMap { name, listener in
      listener.openConnections.map { connection in { report(name, connection) } }
    }
    return secure
      + plain.flatMap { name, connections in connections.map { connection in { report(name, connection) } } }
  }

  /// The listeners without TLS.
  private var plain: [(name: String, connections: [HTTPConnection])] {
    [("console", listeners.console?.openConnections), (ProxyService.name, listeners.proxy?.openConnections)]
      .compactMap { name, connections in connections.map { (name, $0) } }
  }

  private func report(_ listener: String, _ connection: SocketConnection) -> ConnectionReport {
    var report = ConnectionReport(
      listener, remoteAddress: connection.remoteAddress.description, bytesRead: Int(connection.bytesRead),
      bytesWritten: Int(connection.bytesWritten))
    var tls = ConnectionReport.TLS()
    if connection.isOpen { (tls.version, tls.cipher) = (connection.tlsVersion, connection.cipher) }
    (tls.serverName, tls.proxy) = (connection.serverName, connection.destination?.description)
    (tls.alpn, tls.peer) = (connection.alpn, connection.peerCommonName)
    (report.tls, report.queuedBytes) = (tls, connection.queuedBytes)
    switch connection.handler {
    case let http as HTTP2Connection: report.streams = http.openStreams
    case let courier as CourierConnection:
      report.devices = courier.udids.map(\.text)
      report.relayedFor = courier.relayedFor?.description
    default: break
    }
    report.node = relay?.peer(of: connection)?.name
    return report
  }

  private func report(_ listener: String, _ connection: HTTPConnection) -> ConnectionReport {
    var report = ConnectionReport(
      listener, remoteAddress: connection.remoteAddress.description, bytesRead: Int(connection.bytesRead),
      bytesWritten: Int(connection.bytesWritten))
    report.requests = Int(connection.requestCount)
    report.devices = streams.udid(of: connection.openExchange).map { [$0.text] }
    return report
  }

  var metrics: [MetricFamily] {
    var samples = listeners.all.map { name, listener in
      MetricFamily.Sample(Double(listener.openConnections.count), [("listener", name)])
    }
    samples += plain.map { .init(Double($0.connections.count), [("listener", $0.name)]) }
    return [MetricFamily("apns_emulator_connections", .gauge, "Open connections.", samples)]
      + memoryMetrics(samples.map(\.labels)) + streams.metrics + (listeners.proxy?.metrics ?? [])
  }

  private func memoryMetrics(_ listeners: [[(name: String, value: String)]]) -> [MetricFamily] {
    let evictions = listeners.map { labels in
      MetricFamily.Sample(Double(memory.evictionCounts[labels.first?.value ?? ""] ?? 0), labels)
    }
    return [
      MetricFamily(
        "apns_emulator_memory_used_bytes", .gauge,
        "Memory held for connections, streams, queues, answers and history.",
        value: memory.used),
      MetricFamily(
        "apns_emulator_memory_limit_bytes", .gauge, "Limit for that memory (--memory).",
        value: memory.limit),
      MetricFamily(
        "apns_emulator_connections_gave_way_total", .counter,
        "Connections evicted because memory was short.", evictions),
    ]
  }
}
