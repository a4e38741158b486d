import Basics
import ConsoleAnswers
import PushModel
import Transport

/// Requests of devices and providers, which are answered elsewhere.
package struct PeerGroup: RouteGroup {
  /// Who may have a device activated: whoever may, may be any device.
  package enum Activation: Equatable, Sendable {
    /// Everybody who reaches the console.
    case open
    /// Who has the access token, which is asked for on loopback too.
    case token(String)
    case off
  }

  /// Takes an exchange, and answers it late, on the loop, or ends it in another way.
  package typealias Answering = (HTTPExchange, @escaping (HTTPResponse) -> Void) -> Void

  private let activation: Activation
  private let activate: ((HTTPExchange, @escaping (HTTPResponse) -> Void) -> Bool)?
  private let push: Answering

  /// - Parameters:
  ///   - activate: a request with a form (`Documentation/device-protocol.md#activation`). False if too many wait.
  ///   - push: the provider request in plain HTTP/1.1: any request below `/3/` or `/4/`, answered as over HTTP/2.
  package init(
    _ activation: Activation, activate: ((HTTPExchange, @escaping (HTTPResponse) -> Void) -> Bool)?,
    push: @escaping Answering
  ) { (self.activation, self.activate, self.push) = (activation, activate, push) }

  package var routes: [Route] {
    [
      .post(
        "/deviceservices/deviceActivation", "Device activation: issues a device certificate",
        .exchange(activateDevice)
      )
      // With `--activation token` it asks for the token itself, on loopback too.
      .open.anyQuery.standsIn(for: "albert.apple.com").takes(contentType: "application/x-www-form-urlencoded")
      .refuses(401, 404)
      .answers(200, "A page with the activation record", .text(APIExamples.page), contentType: "text/html")
      .answers(400, "A page with the reason", .text(APIExamples.page), contentType: "text/html"),
      appleAnswers(
        .post("/3/device/{token}", "The provider request in plain HTTP/1.1", .exchange(take))
          .open.query(RouteParameter.push).takes(contentType: "application/json").answers(200, "Accepted")
          // So that a payload that is too long is refused in Apple's words.
          .takes(upTo: .large)),
      Route(Route.anyMethod, "/3/{rest*}", "Provider requests that are wrong", .exchange(take))
        .open.anyQuery.hidden.takes(upTo: .large),
      Route(Route.anyMethod, "/4/{rest*}", "Broadcasts in plain HTTP/1.1", .exchange(take))
        .open.anyQuery.hidden.takes(upTo: .large),
    ]
  }

  /// Every status of Apple's table with Apple's body; the console's own refusals come in the console's.
  private func appleAnswers(_ route: Route) -> Route {
    Set(Rejection.allCases.map(\.status)).sorted().reduce(route) { route, status in
      route.answers(status, "Rejected, with Apple's reason", APIExamples.reason(status))
    }
  }

  /// `POST /deviceservices/deviceActivation` (`Documentation/device-protocol.md#activation`)
  private func activateDevice(_: ConsoleRequest, _ exchange: HTTPExchange) throws {
    switch activation {
    case .open: break
    case .token(let token): try RequestGuard.checkAccess(exchange.request, token)
    case .off:
      throw ConsoleError.notFound(
        "devices are not activated here (--activation off); certs device --udid UDID issues an identity")
    }
    guard let activate else { throw ConsoleError.unavailable("there is no activation") }
    guard activate(exchange, exchange.answer) else {
      throw ConsoleError.busy("too many devices are being activated; try again")
    }
  }

  /// `POST /3/device/{token}` in plain HTTP/1.1
  private func take(_: ConsoleRequest, _ exchange: HTTPExchange) { push(exchange, exchange.answer) }
}
