import Basics
import Console
import Platform
import Services
import Transport

/// The proxy listener (`Documentation/proxy.md`): programs that know nothing but Apple's names ask it for those, and get our own
/// listeners. The client's socket is handed over: it becomes a connection of that listener, on which TLS begins, and no second one
/// is opened.
///
///     client ── CONNECT api.push.apple.com:443 ─→ proxy ─ 200 ─→ a connection of `provider`
///            ── CONNECT of a host given with --proxy-tunnel ─→ proxy ─ 200 ─→ a tunnel to that host
///            ── anything else ─→ refused, with a sentence
package final class ProxyService {
  package static let name = "proxy"

  /// Who asks a proxy sends one small request, at once. Sizes in bytes, times in nanoseconds.
  private static var limits: HTTPLimits {
    var limits = HTTPLimits()
    (limits.head, limits.body, limits.pipelined) = (16 << 10, 64 << 10, 16 << 10)
    (limits.requestTime, limits.idleTime) = (15_000_000_000, 30_000_000_000)
    return limits
  }

  private let rules: ProxyRules
  private let access: ProxyAccess
  private let logger: Logger
  private let listener: (String) -> SocketListener?
  private let outside: OutsideConnector
  private let tunnels: SocketTunnels
  private var counts: [String: Int] = [:]
  private var hasEnded = false
  /// The listener and those who have not been led anywhere yet, and both ends of tunnels.
  package private(set) var server: HTTPServer?

  /// `listener` finds ours by its name; nil if it is off.
  package init(
    loop: EventLoop, address: SocketAddress, rules: ProxyRules, access: ProxyAccess, logger: Logger,
    watch: ListenerWatch = ListenerWatch(), listener: @escaping (String) -> SocketListener?
  ) throws {
    (self.rules, self.access, self.logger, self.listener) = (rules, access, logger, listener)
    outside = OutsideConnector(loop: loop)
    tunnels = SocketTunnels(loop: loop, name: Self.name)
    server = try HTTPServer(
      loop: loop, address: address, limits: Self.limits, name: Self.name, isProxy: true,
      watch: watch
    ) { [unowned self] (exchange: HTTPExchange) in answer(exchange) }
  }

  /// Open connections that are no other listener's by now.
  package var openConnections: [HTTPConnection] { server?.openConnections ?? [] }

  /// Nobody is led anywhere any more; tunnels end.
  package func shutDown() {
    hasEnded = true
    server?.shutDown()
    tunnels.endAll()
  }

  /// Drops everybody.
  package func abort() {
    hasEnded = true
    server?.abort()
  }

  package var metrics: [MetricFamily] {
    let outcomes = ProxyRules.Service.allCases.map(\.rawValue) + ["tunnel", "refused"]
    return [
      MetricFamily(
        "apns_emulator_proxy_requests_total", .counter, "Requests to the proxy, by where they led.",
        outcomes.map { .init(Double(counts[$0] ?? 0), [("outcome", $0)]) }),
      MetricFamily(
        "apns_emulator_proxy_tunnels", .gauge, "Open tunnels to hosts given with --proxy-tunnel.",
        value: tunnels.count),
    ]
  }

  // MARK: Answers

  private func answer(_ exchange: HTTPExchange) {
    let request = exchange.request
    if let refusal = access.refusal(of: request) { return refuse(exchange, refusal) }
    guard request.method == "CONNECT" else { return refuse(exchange, Self.noTunnel(request)) }
    guard let asked = ProxyRules.target(request.path) else {
      return refuse(exchange, 400, "CONNECT asks for a host and a port, as in CONNECT api.push.apple.com:443")
    }
    switch rules.decision(on: asked) {
    case .service(let service): lead(exchange, to: service, askedFor: asked)
    case .outside: tunnel(exchange, to: asked)
    case .refused(let sentence): refuse(exchange, 403, sentence)
    }
  }

  private func lead(_ exchange: HTTPExchange, to service: ProxyRules.Service, askedFor asked: SocketAddress) {
    guard let listener = listener(service.rawValue) else {
      return refuse(exchange, 503, "\(service.rawValue) is off here: --\(service.rawValue)-port opens it")
    }
    guard !hasEnded, listener.hasRoom else {
      return refuse(exchange, 503, "\(service.rawValue) accepts no further connections")
    }
    count(exchange, service.rawValue)
    exchange.becomeTunnel { listener.adopt($0, askedFor: asked) }
  }

  private func tunnel(_ exchange: HTTPExchange, to asked: SocketAddress) {
    guard !hasEnded, !exchange.isOnReserve else {
      return refuse(exchange, 503, "the proxy has too many tunnels; try again")
    }
    let giveUp = outside.connect(to: asked) { [weak self] result in
      switch result {
      case .success(let server): self?.open(exchange, server)
      case .failure(let failure): self?.refuse(exchange, failure.status, failure.sentence)
      }
    }
    exchange.whenGone(giveUp)
  }

  private func open(_ exchange: HTTPExchange, _ server: SocketConnection) {
    guard exchange.isOpen, !hasEnded else {
      return server.abort("the client closed its connection", reset: true)
    }
    count(exchange, "tunnel")
    exchange.becomeTunnel { [tunnels] in tunnels.join($0, server) }
  }

  /// What somebody hears who takes this for a proxy of web pages, or for the console.
  private static func noTunnel(_ request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(
      status: 405, error: "methodNotAllowed",
      "this is a proxy for https: alone: expected CONNECT, as clients send for https: addresses once HTTPS_PROXY names this "
        + "port, got \(request.method.prefix(16)); the dashboard and the console's API are on another port",
      fields: [HTTPField("Allow", "CONNECT")])
  }

  private func refuse(_ exchange: HTTPExchange, _ status: Int, _ sentence: String) {
    refuse(
      exchange, HTTPResponse(status: status, error: HTTPStatus.errorCode(status), sentence), because: sentence
    )
  }

  private func refuse(_ exchange: HTTPExchange, _ response: HTTPResponse, because sentence: String? = nil) {
    count(exchange, "refused")
    logger.log(
      .info, "proxy request refused",
      [
        ("remote", .string(exchange.request.remoteAddress.description)),
        ("status", .integer(Int64(response.status))), ("because", .optional(sentence)),
      ])
    var response = response
    // Who was asked for the token may say it on the same connection.
    response.endsConnection = response.status != 407
    exchange.respond(response)
  }

  private func count(_ exchange: HTTPExchange, _ outcome: String) {
    counts[outcome, default: 0] += 1
    guard outcome != "refused" else { return }
    logger.log(
      .debug, "proxy request",
      [
        ("remote", .string(exchange.request.remoteAddress.description)),
        ("askedFor", .string(exchange.request.path)), ("to", .string(outcome)),
      ])
  }
}
