import Basics
import Broker
import Testing

import Console

@Suite struct TestPushTests {
  private func makeLab() -> (ConsoleLab, FakeTestPushes) {
    let lab = ConsoleLab()
    let sent = FakeTestPushes { [unowned lab] push in
      (try? lab.push(push.token, String(decoding: push.payload, as: UTF8.self))) ?? 0
    }
    lab.parts.testPushes = sent
    return (lab, sent)
  }

  @Test("A push is sent as asked, and the notification comes back")
  func everything() throws {
    let (lab, sent) = makeLab()
    let token = try lab.install()
    let json =
      #"{"protocol":"legacy","token":"\#(token.hex)","topic":"com.example.app","environment":"production","#
      + #""payload":{"aps":{"badge":1}},"priority":5,"expiration":0,"command":1,"identifier":9}"#
    let response = try lab.ask("POST", "/api/v1/push", json: json)
    #expect(response.status == 200)
    #expect(JSONReader.read(response.body)?["verdict"]["accepted"].bool == true)
    let push = try #require(sent.pushes.first)
    #expect(push.form == .legacy && push.token == token.bytes && push.environment == .production)
    #expect(String(decoding: push.payload, as: UTF8.self) == #"{"aps":{"badge":1}}"#)
    #expect(push.priority == 5 && push.expiration == 0 && push.command == 1 && push.identifier == 9)
  }

  @Test("A credential is looked at before, goes no further, and decides who sends")
  func credential() throws {
    let (lab, sent) = makeLab()
    let token = try lab.install()
    let json =
      #"{"token":"\#(token.hex)","topic":"com.example.app","payload":{},"#
      + #""credential":{"file":"AQID","name":"a.p12","key":"BAU=","password":"p","keyId":"K","team":"T"}}"#
    #expect(try lab.ask("POST", "/api/v1/push", json: json).status == 200)
    let seen = try #require(sent.credential)
    #expect(seen.file == [1, 2, 3] && seen.name == "a.p12" && seen.key == [4, 5] && seen.password == "p")
    #expect(seen.keyId == "K" && seen.team == "T")
    #expect(sent.pushes.first?.proof == .token("x") && sent.pushes.first?.credential == nil)
    sent.outcome = .failure(DocumentError("the handshake would fail"))
    #expect(try lab.refusal("POST", "/api/v1/push", 409, json: json) == "the handshake would fail")
    sent.isBusy = true
    #expect(try lab.ask("POST", "/api/v1/push", json: json).status == 503)
    let bare = #"{"token":"ab","topic":"a","credential":{"password":"p"}}"#
    #expect(try lab.refusal("POST", "/api/v1/push", 400, json: bare).contains("credential.file"))
    #expect(sent.pushes.count == 1)
    // A phone and an app that are named are not made for a push that is refused.
    let named = json.replacing(#""token":"\#(token.hex)""#, with: #""udid":"new-phone""#)
    #expect(try lab.ask("POST", "/api/v1/push", json: named).status == 503)
    (sent.isBusy, sent.outcome) = (false, .failure(DocumentError("the handshake would fail")))
    #expect(try lab.refusal("POST", "/api/v1/push", 409, json: named) == "the handshake would fail")
    #expect(try lab.get("/api/v1/devices")["devices"].elements.count == 1)
    sent.outcome = .success(.token("y"))
    #expect(try lab.ask("POST", "/api/v1/push", json: named).status == 200)
    #expect(try lab.get("/api/v1/devices")["devices"].elements.count == 2 && sent.pushes.count == 2)
  }

  @Test("Defaults are HTTP/2 in the emulator's environment; bytes need not be JSON")
  func defaults() throws {
    let (lab, sent) = makeLab()
    let json =
      #"{"token":"ab","topic":"a","payloadBase64":"//4=","pushType":"voip","collapseId":"c","apnsId":"x"}"#
    #expect(try lab.ask("POST", "/api/v1/push", json: json).status == 200)
    let push = try #require(sent.pushes.first)
    #expect(push.form == .http2 && push.environment == .sandbox && push.payload == [0xff, 0xfe])
    #expect(push.pushType == .voip && push.collapseID == "c" && push.apnsID == "x" && push.expiration == nil)
  }

  @Test(
    "A push names phone and app in the token's place: they are made, and type and priority are the payload's")
  func named() throws {
    let (lab, sent) = makeLab()
    let push = { (members: String) in
      try lab.ask("POST", "/api/v1/push", json: #"{"udid":"new","topic":"com.example.app",\#(members)}"#)
    }
    let response = try push(#""payload":{"aps":{"alert":"Hi"}}"#)
    #expect(response.status == 200 && JSONReader.read(response.body)?["udid"].string == "new")
    #expect(try push(#""payload":{"aps":{"content-available":1}}"#).status == 200)
    #expect(try push(#""environment":"production","pushType":"voip","payload":{}"#).status == 200)
    let listed = try lab.get("/api/v1/tokens?udid=new")["tokens"]
    let tokens = [listed[0]["token"].string, listed[1]["token"].string]
    #expect(listed[2]["token"].string == nil)
    #expect(sent.pushes.map { Hex.encode($0.token) } == [tokens[0], tokens[0], tokens[1]])
    #expect(sent.pushes.map(\.pushType) == [.alert, .background, .voip])
    #expect(sent.pushes.map(\.priority) == [nil, 5, nil])
  }

  @Test(
    "A bad push says what was expected",
    arguments: [
      (#"{"topic":"a"}"#, "or udid in its place, got nothing"),
      (#"{"token":"ab","udid":"x","topic":"a"}"#, "or udid in its place, got both"),
      (#"{"udid":"a b","topic":"a"}"#, "udid"),
      (#"{}"#, "token"), (#"{"token":"x","topic":"a"}"#, "hexadecimal"), (#"{"token":"ab"}"#, "bundle id"),
      (#"{"token":"ab","topic":"a","protocol":"smtp"}"#, "http2 or legacy"),
      (#"{"token":"ab","topic":"a","pushType":"loud"}"#, "background"),
      (#"{"token":"ab","topic":"a","command":3}"#, "0 to 2"),
      (#"{"token":"ab","topic":"a","payload":{},"payloadBase64":""}"#, "Base64"),
      (#"{"token":"ab","topic":"a","payloadBase64":"?"}"#, "Base64"),
      (#"{"token":"ab","topic":"a","environment":"moon"}"#, "sandbox or production"),
      (#"{"token":"ab","topic":"a","to":"me"}"#, "apnsId"),
    ])
  func bad(json: String, expected: String) throws {
    let (lab, sent) = makeLab()
    let message = try lab.refusal("POST", "/api/v1/push", 400, json: json)
    #expect(message.contains(expected), "\(message)")
    #expect(sent.pushes.isEmpty)
  }

  @Test("A token is explained field by field")
  func explained() throws {
    let lab = ConsoleLab {
      $0.explainToken = { environment, udid, hash, install, _ in
        [
          ("environment", [environment.rawValue]), ("install", [UInt8(install)]),
          ("udid", Array(udid.text.utf8)),
        ]
      }
    }
    let token = try lab.install()
    let detail = try lab.get("/api/v1/tokens/\(token.hex.uppercased())")
    #expect(detail["udid"].string == "phone" && detail["derivation"]["function"].string == "HMAC-SHA256")
    #expect(
      detail["derivation"]["message"].text
        == #"[{"field":"environment","hex":"00"},{"field":"install","hex":"01"},"#
        + #"{"field":"udid","hex":"70686f6e65"}]"#)
    _ = try lab.refusal("GET", "/api/v1/tokens/\(String(repeating: "0", count: 64))", 404)
    _ = try lab.refusal("GET", "/api/v1/tokens/ab", 404)
    _ = try lab.refusal("GET", "/api/v1/tokens/abc", 400)
  }

  @Test("Channels are listed with who listens")
  func channels() throws {
    let lab = ConsoleLab()
    try lab.install()
    let phone = try lab.connect()
    let key = ChannelTable.Key(topic: 0, environment: .sandbox, id: [1, 2, 3])
    lab.broker.channels.create(key, storesNewest: true)
    let session = try #require(phone.session)
    #expect(lab.broker.broadcasts.join(session, key, seenUntil: nil, now: lab.now))
    let channel = try lab.get("/api/v1/channels")["channels"][0]
    #expect(
      channel.text
        == #"{"topic":"com.example.app","environment":"sandbox","id":"AQID","storesNewest":true,"#
        + #""listeners":1,"newestAt":null}"#)
  }
}
