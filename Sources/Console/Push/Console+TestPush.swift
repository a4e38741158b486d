import Broker
import PushModel
import Transport

extension Console {
  /// `POST /api/v1/push`: answers 200 with the notification, whose verdict says whether it was accepted, and which fault
  /// struck it.
  func sendTestPush(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    try request.query().finish()
    let push = try TestPush(
      request.object(allowing: TestPush.form.names), environment: context.environment)
    guard let send = context.sendTest else {
      throw ConsoleError.unavailable("test pushes are not part of this run")
    }
    send(push) { [unowned self] id in exchange.respond(finished(sentTestPush(id))) }
  }

  private func sentTestPush(_ id: UInt64) -> HTTPResponse {
    guard let record = broker.journal[id] else {
      return ConsoleError.conflict("the history is too short to keep the notification").response
    }
    return HTTPResponse(json: NotificationDocument(broker: broker).whole(record))
  }
}
