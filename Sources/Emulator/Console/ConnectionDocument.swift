import Cluster
import Console
import PushModel
import Transport

/// Open connections as the console shows them (`Documentation/console-api.md`).
enum ConnectionDocument {
  static func all(_ emulator: Emulator) -> [() -> JSONValue] {
    let secure = emulator.listeners.flatMap { name, listener in
      listener.openConnections.map { connection in { describe(name, connection, emulator.nodes?.devices) } }
    }
    return secure
      + plain(emulator).flatMap { name, connections in
        connections.map { connection in { describe(name, connection, emulator.streams) } }
      }
  }

  /// The listeners without TLS.
  private static func plain(_ emulator: Emulator) -> [(name: String, connections: [HTTPConnection])] {
    [("console", emulator.console?.openConnections), (ProxyService.name, emulator.proxy?.openConnections)]
      .compactMap { name, connections in connections.map { (name, $0) } }
  }

  private static func describe(
    _ listener: String, _ connection: SocketConnection, _ relay: EdgeTunnels?
  ) -> JSONValue {
    .object(
      [
        ("listener", .string(listener)), ("remoteAddress", .string(connection.remoteAddress.description)),
        ("tlsVersion", connection.isOpen ? .string(connection.tlsVersion) : .null),
        ("cipher", connection.isOpen ? .string(connection.cipher) : .null),
        ("serverName", .optional(connection.serverName)),
        ("proxy", .optional(connection.destination?.description)), ("alpn", .optional(connection.alpn)),
        ("peer", .optional(connection.peerCommonName)), ("bytesRead", .integer(Int64(connection.bytesRead))),
        ("bytesWritten", .integer(Int64(connection.bytesWritten))),
        ("queuedBytes", .integer(Int64(connection.queuedBytes))),
      ] + details(connection.handler) + node(relay?.peer(of: connection)))
  }

  private static func details(_ handler: (any ConnectionHandler)?) -> [(String, JSONValue)] {
    switch handler {
    case let http as HTTP2Connection: [("streams", .integer(Int64(http.openStreams)))]
    case let courier as CourierConnection:
      [("devices", .array(courier.udids.map { .string($0.text) }))]
        + (courier.relayedFor.map { [("relayedFor", .string($0.description))] } ?? [])
    default: []
    }
  }

  /// Who serves a device that has connected here.
  private static func node(_ peer: NodePeer?) -> [(String, JSONValue)] {
    peer.map { [("node", .string($0.name))] } ?? []
  }

  private static func describe(
    _ listener: String, _ connection: HTTPConnection, _ streams: StreamService
  ) -> JSONValue {
    .object(
      [
        ("listener", .string(listener)), ("remoteAddress", .string(connection.remoteAddress.description)),
        ("tlsVersion", nil), ("requests", .integer(Int64(connection.requestCount))),
        ("bytesRead", .integer(Int64(connection.bytesRead))),
        ("bytesWritten", .integer(Int64(connection.bytesWritten))),
      ] + (streams.udid(of: connection.openExchange).map { [("devices", .array([.string($0.text)]))] } ?? []))
  }

  static func metrics(_ emulator: Emulator) -> [MetricFamily] {
    var samples = emulator.listeners.map { name, listener in
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
    let gaveWay = listeners.map { labels in
      MetricFamily.Sample(Double(memory.gaveWay[labels.first?.value ?? ""] ?? 0), labels)
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
        "Connections that were ended because memory was short.", gaveWay),
    ]
  }
}
