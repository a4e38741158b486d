import Testing

import NATSWire

/// Bytes from the page "Client Protocol" of the server's documentation.
@Suite struct NATSCommandTests {
  private func written(_ command: NATSCommand) -> String {
    var output: [UInt8] = []
    command.write(to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  @Test func writesWhatTheDocumentationShows() {
    #expect(
      written(.publish(subject: "FOO", payload: Array("Hello NATS!".utf8))) == "PUB FOO 11\r\nHello NATS!\r\n"
    )
    #expect(
      written(.publish(subject: "FRONT.DOOR", reply: "JOKE.22", payload: Array("Knock Knock".utf8)))
        == "PUB FRONT.DOOR JOKE.22 11\r\nKnock Knock\r\n")
    #expect(written(.publish(subject: "NOTIFY")) == "PUB NOTIFY 0\r\n\r\n")
    #expect(
      written(
        .publish(
          subject: "FRONT.DOOR", reply: "JOKE.22", headers: ["BREAKFAST": "donut", "LUNCH": "burger"],
          payload: Array("Knock Knock".utf8)))
        == "HPUB FRONT.DOOR JOKE.22 45 56\r\nNATS/1.0\r\nBREAKFAST: donut\r\nLUNCH: burger\r\n\r\nKnock Knock\r\n"
    )
    #expect(written(.subscribe(subject: "FOO", subscription: 1)) == "SUB FOO 1\r\n")
    #expect(written(.unsubscribe(subscription: 1)) == "UNSUB 1\r\n")
    #expect(written(.ping) == "PING\r\n")
    #expect(written(.pong) == "PONG\r\n")
  }

  @Test(
    arguments: [
      (nil, ""),
      (.password(user: "anna", password: #"a"b"#), #","user":"anna","pass":"a\"b""#),
      (.token("t"), #","auth_token":"t""#),
      (.signed(jwt: "j", signature: "s"), #","jwt":"j","sig":"s""#),
    ] as [(NATSCredentials?, String)])
  func introducesItself(credentials: NATSCredentials?, members: String) {
    let introduction = NATSIntroduction(name: "node-1", software: "0.1.0", credentials: credentials)
    #expect(
      written(.connect(introduction))
        == #"CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true,"protocol":1,"#
        + #""lang":"swift","version":"0.1.0","name":"node-1""# + members + "}\r\n")
  }

  @Test func knowsASubject() {
    for subject in ["a", "apns.z.63.in", "$JS.API.INFO", "_INBOX.x-1.2"] {
      #expect(NATSCommand.isSubject(subject))
    }
    for text in ["", ".", "a.", ".a", "a..b", "a b", "a\r\nPUB b 0", "a.*", ">", "ä"] {
      #expect(!NATSCommand.isSubject(text))
    }
  }
}
