import Basics
import Console
import ConsoleAnswers
import Transport

/// The nodes of a cluster, for what all of them do: the clock, what goes wrong on purpose, starting over. Implemented by module `Node`.
package protocol NodeOrders: AnyObject {
  /// Has every node carry out a request, in one order for all; `done` gets this node's answer, or a sentence why there is none.
  func order(_ request: OrderedRequest, done: @escaping (HTTPResponse?, _ because: String) -> Void)
  /// The last order that this node has carried out, for a node that is to do something behind it.
  var lastOrder: UInt64 { get }
  /// Calls back when this node has carried out all orders up to a number; false if that can't be waited for.
  func whenCarriedOut(_ number: UInt64, then: @escaping () -> Void) -> Bool
  /// Everything of every device is forgotten, as the order that is carried out now wants it.
  func forgetDevices()
}

/// A request that every node carries out.
package struct OrderedRequest: Equatable, Sendable {
  package var method: String
  package var path: String
  package var body: [UInt8]

  package init(method: String, path: String, body: [UInt8]) {
    (self.method, self.path, self.body) = (method, path, body)
  }

  /// As it stands in the cluster's log.
  package var document: JSONValue {
    [
      "kind": "order", "method": .string(method), "path": .string(path),
      "body": .string(String(decoding: body, as: UTF8.self)),
    ]
  }

  /// nil for what is no order.
  package init?(_ document: [UInt8]) {
    guard case .object(let members)? = JSONReader.read(document, maximumDepth: JSONObject.bodyDepth),
      case let order = JSONObject(members: members), case .string(let method)? = order["method"],
      case .string(let path)? = order["path"], case .string(let body)? = order["body"]
    else { return nil }
    self.init(method: method, path: path, body: Array(body.utf8))
  }
}

extension OrderedRequest {
  /// In a request of another node: the last order that it has carried out, behind which this is to be done.
  static let lastOrderField = "x-apns-emulator-order"

  /// Does what all nodes do, at this one. Only routes that are ordered are known to it.
  package func carryOut(by table: RouteTable, at now: Timestamp) -> HTTPResponse {
    guard let request = HTTPRequest(method, path, body: body),
      let (route, captures) = table.find(request), case .ordered(_, let doing) = route.place,
      let answer = doing ?? route.answersAtOnce
    else { return HTTPResponse(status: 500, error: "internal", "this node does not know \(path)") }
    let call = ConsoleRequest(http: request, captures: captures, now: now, bodyLimit: route.bodyLimit)
    do { return try answer(call).finished } catch { return ConsoleError.response(to: error).finished }
  }
}

extension Route {
  fileprivate var answersAtOnce: Handler<HTTPResponse>? {
    if case .answer(let answer) = action { answer } else { nil }
  }
}
