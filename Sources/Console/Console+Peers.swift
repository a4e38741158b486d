import PushModel
import Transport

/// Requests of devices and providers, which are answered elsewhere.
extension Console {
  /// `POST /deviceservices/deviceActivation` (`Documentation/device-protocol.md#activation`)
  func activateDevice(_ request: ConsoleRequest) throws -> HTTPResponse {
    guard let activate = context.activate else { throw ConsoleError.unavailable("there is no activation") }
    let (status, contentType, body) = activate(request.http.body)
    return HTTPResponse(status: status, fields: [HTTPField("Content-Type", contentType)], body: body)
  }

  /// `POST /3/device/{token}` in plain HTTP/1.1
  func push(_ exchange: HTTPExchange) throws {
    guard let push = context.push else {
      throw ConsoleError.unavailable("the provider interface is not part of this run")
    }
    push(exchange) { [unowned self] in exchange.respond(finished($0)) }
  }
}
