import Basics
import Cluster
import Console
import Node
import Services
import Transport
import WaysIn

/// Open connections as the console is told of them (`Documentation/console-api.md`).
enum ConnectionDocument {
  static func all(_ emulator: Emulator) -> [() -> ConnectionReport] {
    let secure = emulator.listeners.all.flatMap { name, listener in
      listener.openConnections.map { connection in { report(name, connection, emulator.nodes?.devices) } }
    }
    return secure
      + plain(emulator).flatMap { name, connections in
        connections.map { connection in { report(name, connection, emulator.streams) } }
      }
  }

  /// The listeners without TLS.
  private static func plain(_ emulator: Emulator) -> [(name: String, connections: [HTTPConnection])] {
    [("console", emulator.console?.openConnections), (ProxyService.name, emulator.proxy?.openConnections)]
      .compactMap { name, connections in connections.map { (name, $0) } }
  }

  private static func report(
    _ listener: String, _ connection: SocketConnection, _ relay: EdgeTunnels?
  ) -> ConnectionReport {
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

  private static func report(
    _ listener: String, _ connection: HTTPConnection, _ streams: StreamService
  ) -> ConnectionReport {
    var report = ConnectionReport(
      listener, remoteAddress: connection.remoteAddress.description, bytesRead: Int(connection.bytesRead),
      bytesWritten: Int(connection.bytesWritten))
    report.requests = Int(connection.requestCount)
    report.devices = streams.udid(of: connection.openExchange).map { [$0.text] }
    return report
  }

  static func metrics(_ emulator: Emulator) -> [MetricFamily] {
    var samples = emulator.listeners.all.map { name, listener in
      MetricFamily.Sample(Double(listener.openConnections.count), [("listener", name)])
    }
    samples += plain(emulator).map { .init(Double($0.connections.count), [("listener", $0.name)]) }
    return [MetricFamily("apns_emulator_connections", .gauge, "Open connections.", samples)]
      + memoryMetrics(emulator, samples.map(\.labels))
      + emulator.streams.metrics + (emulator.proxy?.metrics ?? []) + (emulator.forward?.metrics ?? [])
      + (emulator.hooks?.metrics ?? [])
      + (emulator.nodes?.metrics ?? []) + (emulator.node.map(ClusterMetrics.all) ?? [])
      + (emulator.capture?.metrics ?? []) + emulator.logger.metrics
  }

  private static func memoryMetrics(
    _ emulator: Emulator, _ listeners: [[(name: String, value: String)]]
  ) -> [MetricFamily] {
    let memory = emulator.loop.memory
    let evictions = listeners.map { labels in
      MetricFamily.Sample(Double(memory.evictionCounts[labels.first?.value ?? ""] ?? 0), labels)
    }
    return [
      MetricFamily(
        "apns_emulator_memory_used_bytes", .gauge,
        "Held for connections, streams, queues, answers and history.",
        value: memory.used),
      MetricFamily(
        "apns_emulator_memory_limit_bytes", .gauge, "Most that may be held for them (--memory).",
        value: memory.limit),
      MetricFamily(
        "apns_emulator_connections_gave_way_total", .counter,
        "Connections that were ended because memory was short.", evictions),
    ]
  }
}
