import Basics
import Platform

/// One request, whole.
package struct HTTPRequest: Sendable {
  /// The method as sent; methods are compared with case.
  package var method: String
  /// The path as sent, without the query. Of CONNECT: what it asks for, as sent.
  package var path: String
  /// The path at its slashes, each part percent-decoded. `/` has none; an empty part is kept.
  package var segments: [String]
  /// Query items in order, decoded; an item without `=` has an empty value.
  package var query: [(name: String, value: String)]
  package var fields: [HTTPField]
  package var body: [UInt8]
  /// Who sent it.
  package var remoteAddress: SocketAddress
  /// The port it came in on.
  package var localPort: UInt16
  /// Another node of ours passes it on, and has made the checks of who may ask.
  package var isOfNode = false
  /// Whether the client speaks HTTP/1.0.
  var isVersion10 = false

  /// Makes a request as a client of the same process would; nil if the target is not a path.
  package init?(
    _ method: String, _ target: String, fields: [HTTPField] = [], body: [UInt8] = [],
    from remoteAddress: SocketAddress = SocketAddress(host: "127.0.0.1", port: 0), localPort: UInt16 = 0
  ) {
    guard let parsed = try? HTTPTarget(target, method: method) else { return nil }
    self.init(method, parsed, fields, body, remoteAddress, localPort)
  }

  init(
    _ method: String, _ target: HTTPTarget, _ fields: [HTTPField], _ body: [UInt8],
    _ remoteAddress: SocketAddress, _ localPort: UInt16
  ) {
    (self.method, self.path, self.segments, self.query) = (method, target.path, target.segments, target.query)
    (self.fields, self.body) = (fields, body)
    (self.remoteAddress, self.localPort) = (remoteAddress, localPort)
  }

  /// The value of the first field of this name, compared without case.
  package func field(_ name: String) -> String? { fields.first(named: name) }

  /// The value of the first query item of this name.
  package func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// Whether the client wants the connection kept for its next request (RFC 9112 9.3).
  package var keepsConnection: Bool {
    let options = fields.all(named: "connection").joined(separator: ",").lowercased()
      .split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    return isVersion10 ? options.contains("keep-alive") : !options.contains("close")
  }
}
