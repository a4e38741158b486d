import Basics

/// What a client says to a NATS server.
///
///     NATSCommand.subscribe(subject: "_INBOX.x.*", subscription: 1).write(to: &output)
package enum NATSCommand: Equatable, Sendable {
  /// The first thing, behind the server's INFO.
  case connect(NATSIntroduction)
  /// `headers` and `payload` together must not be larger than the server's `maximumPayload`.
  case publish(subject: String, reply: String? = nil, headers: NATSHeaders? = nil, payload: [UInt8] = [])
  case subscribe(subject: String, subscription: UInt64)
  case unsubscribe(subscription: UInt64)
  case ping
  case pong

  /// Appends it as it is sent.
  package func write(to output: inout ByteBuffer) {
    switch self {
    case .connect(let introduction): output.append("CONNECT ", introduction.document.encoded)
    case .publish(let subject, let reply, nil, let payload):
      output.append("PUB \(Self.words(subject, reply))\(payload.count)\r\n", payload)
    case .publish(let subject, let reply, let headers?, let payload):
      let head = headers.encoded
      output.append("HPUB \(Self.words(subject, reply))\(head.count) \(head.count + payload.count)\r\n", head)
      output.append("", payload)
    case .subscribe(let subject, let subscription): output.append("SUB \(subject) \(subscription)")
    case .unsubscribe(let subscription): output.append("UNSUB \(subscription)")
    case .ping: output.append("PING")
    case .pong: output.append("PONG")
    }
    output.append("\r\n")
  }

  private static func words(_ first: String, _ second: String?) -> String {
    second.map { "\(first) \($0) " } ?? "\(first) "
  }

  /// Whether a server takes this as the subject of a message: words between points, without blanks or wildcards.
  package static func isSubject(_ text: String) -> Bool {
    let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return words.allSatisfy { word in
      !word.isEmpty
        && word.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "*") && $0 != UInt8(ascii: ">") }
    }
  }
}

/// Who a client is and what it wants of the connection.
package struct NATSIntroduction: Equatable, Sendable {
  /// Shown by the server's monitoring.
  package var name: String
  package var software: String
  package var credentials: NATSCredentials?

  package init(name: String, software: String, credentials: NATSCredentials? = nil) {
    (self.name, self.software, self.credentials) = (name, software, credentials)
  }

  /// Terse: no +OK for each command. A request that nobody listens to is answered with status 503 at once.
  var document: JSONValue {
    var members: [(String, JSONValue)] = [
      ("verbose", false), ("pedantic", false), ("headers", true), ("no_responders", true), ("protocol", 1),
      ("lang", "swift"), ("version", .string(software)), ("name", .string(name)),
    ]
    switch credentials {
    case nil: break
    case .password(let user, let password):
      members += [("user", .string(user)), ("pass", .string(password))]
    case .token(let token): members.append(("auth_token", .string(token)))
    case .signed(let jwt, let signature):
      members += [("jwt", .string(jwt)), ("sig", .string(signature))]
    case .key(let key, let signature):
      members += [("nkey", .string(key)), ("sig", .string(signature))]
    }
    return .object(members)
  }
}

/// How a client proves who it is. Never shown in a log.
package enum NATSCredentials: Equatable, Sendable {
  case password(user: String, password: String)
  case token(String)
  /// A user's JWT, and the server's nonce signed with the user's key, in Base64 for URLs.
  case signed(jwt: String, signature: String)
  /// A user's public key where the server knows it, and the same.
  case key(String, signature: String)
}

extension ByteBuffer {
  fileprivate mutating func append(_ text: String, _ bytes: [UInt8] = []) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    bytes.withUnsafeBytes { append($0) }
  }
}
