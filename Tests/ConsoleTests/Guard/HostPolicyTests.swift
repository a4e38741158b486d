import Basics
import Testing
import Transport

import Console

@Suite struct HostPolicyTests {
  @Test(
    "Loopback's names and the bind address are answered, alone or with the right port",
    arguments: [
      "localhost", "localhost:8790", "LOCALHOST:8790", "127.0.0.1", "127.0.0.1:8790", "[::1]", "[::1]:8790",
      "192.0.2.7", "192.0.2.7:8790", "apns", "apns:8790",
    ])
  func allowed(host: String) throws {
    let lab = ConsoleLab {
      $0.bindHost = "192.0.2.7"
      $0.allowedHosts = ["apns"]
    }
    #expect(try lab.ask("GET", "/livez", fields: [HTTPField("Host", host)]).status == 200)
  }

  @Test(
    "Every other name is refused, on every route",
    arguments: [
      "127.0.0.1.evil.com", "127.0.0.1.evil.com:8790", "evil.com", "localhost.evil.com", "localhost:8791",
      "localhost:", "localhost.", "127.0.0.2", "::1", "[::1", "0.0.0.0", "127.1", "", "localhost:8790:8790",
      "evil.com:8790", "user@localhost",
    ])
  func refused(host: String) throws {
    let lab = ConsoleLab()
    for target in ["/livez", "/", "/api/v1/info", "/nothing"] {
      let message = try lab.refusal("GET", target, 403, fields: [HTTPField("Host", host)])
      #expect(message.contains("host"))
    }
  }

  @Test(
    "Device activation answers to the name of Apple's service too, in any case and with the right port",
    arguments: ["albert.apple.com", "albert.apple.com:8790", "Albert.Apple.COM", "localhost"])
  func activation(host: String) throws {
    let lab = ConsoleLab { $0.activate = ConsoleLab.activates }
    let fields = [HTTPField("Host", host)]
    let response = try lab.ask("POST", "/deviceservices/deviceActivation?device=iPhone", fields: fields)
    #expect(response.status == 200)
  }

  @Test("The name of Apple's activation service opens nothing else, and no other name opens activation")
  func activationOnly() throws {
    let lab = ConsoleLab { $0.activate = ConsoleLab.activates }
    let path = "/deviceservices/deviceActivation"
    let apple = [HTTPField("Host", "albert.apple.com")]
    let others = [
      ("GET", path), ("OPTIONS", path), ("PUT", path), ("POST", path + "/x"), ("POST", "/deviceservices"),
      ("GET", "/"), ("GET", "/livez"), ("GET", "/api/v1/info"), ("POST", "/api/v1/reset"),
      ("DELETE", "/api/v1/notifications"), ("POST", "/3/device/00"), ("POST", "/nothing"),
    ]
    for (method, target) in others { _ = try lab.refusal(method, target, 403, fields: apple) }
    for host in [
      "albert.apple.com:443", "albert.apple.com.evil.com", "evil.albert.apple.com", "apple.com", "evil.com",
      "",
      "albert.apple.com.",
    ] {
      _ = try lab.refusal("POST", path, 403, fields: [HTTPField("Host", host)])
    }
    let page = apple + [HTTPField("Origin", "http://evil.com")]
    _ = try lab.refusal("POST", path, 403, fields: page)
  }

  @Test(
    "Where an access token is asked for, a client may have come by another port: a container's host leads it here",
    arguments: [
      ("localhost:9000", true), ("apns:9000", true), ("[::1]:1", true), ("localhost:", false),
      ("evil.com:9000", false),
      ("localhost:70000", false), ("localhost:+1", false), ("localhost:1:2", false), ("localhost:x", false),
    ])
  func mappedPort(host: String, isAllowed: Bool) throws {
    let lab = ConsoleLab {
      $0.accessToken = "longenough"
      $0.allowedHosts = ["apns"]
    }
    #expect(
      try lab.ask("GET", "/livez", fields: [HTTPField("Host", host)]).status == (isAllowed ? 200 : 403))
  }

  @Test("An IPv6 bind address is answered in brackets")
  func bindIPv6() {
    let hosts = HostPolicy(bindHost: "fd00::5", additional: [])
    #expect(hosts.allows("[fd00::5]:1", port: 1))
    #expect(!hosts.allows("fd00::5:1", port: 1))
  }

  @Test(
    "A page of another origin can neither write nor listen",
    arguments: [
      ("http://localhost", true), ("HTTP://LOCALHOST", true), ("http://localhost:3000", false),
      ("https://localhost", false), ("http://127.0.0.1", false), ("http://evil.com", false), ("null", false),
      ("", false),
    ])
  func origins(origin: String, isAllowed: Bool) throws {
    let lab = ConsoleLab()
    let fields = [HTTPField("Host", "localhost"), HTTPField("Origin", origin)]
    let write = try lab.ask("DELETE", "/api/v1/notifications", fields: fields)
    #expect(write.status == (isAllowed ? 200 : 403))
    #expect(try lab.ask("GET", "/api/v1/notifications", fields: fields).status == 200)
  }

  @Test("A browser's word that another site asks is enough to refuse a write")
  func fetchSite() throws {
    let lab = ConsoleLab()
    for (site, status) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
      let response = try lab.ask(
        "DELETE", "/api/v1/notifications", fields: [HTTPField("Sec-Fetch-Site", site)])
      #expect(response.status == status, "\(site)")
    }
  }

  @Test(
    "A JSON body needs its content type",
    arguments: [
      ("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415),
      ("application/x-www-form-urlencoded", 415), ("", 415),
    ])
  func contentType(type: String, status: Int) throws {
    let lab = ConsoleLab()
    try lab.install()
    let response = try lab.ask(
      "POST", "/api/v1/devices/phone/erase", json: "{}", fields: [HTTPField("Content-Type", type)])
    #expect(response.status == status)
  }

  @Test(
    "With --activation token a device shows the access token, on loopback too; --activation off leaves no route"
  )
  func activationAccess() throws {
    let path = "/deviceservices/deviceActivation"
    let right = [HTTPField("Authorization", "Bearer open-sesame")]
    let lab = ConsoleLab {
      ($0.activate, $0.activation) = (ConsoleLab.activates, .token("open-sesame"))
    }
    for fields in [[], [HTTPField("Authorization", "Bearer open-sesamf")]] {
      _ = try lab.refusal("POST", path, 401, fields: fields)
    }
    #expect(try lab.ask("POST", path, fields: right).status == 200)
    #expect(try lab.ask("GET", "/api/v1/info").status == 200, "nothing else asks for it")
    let closed = ConsoleLab { ($0.activate, $0.activation) = (ConsoleLab.activates, .off) }
    let message = try closed.refusal("POST", path, 404, fields: right)
    #expect(message.contains("--activation off"))
  }

  @Test("An activation that finds no room is told to come again")
  func activationIsFull() throws {
    let lab = ConsoleLab { $0.activate = { _, _ in false } }
    let response = try lab.ask("POST", "/deviceservices/deviceActivation")
    #expect(response.status == 503 && response.field("retry-after") == "1")
  }

  @Test("With an access token only health checks and peers get in without it")
  func accessToken() throws {
    let lab = ConsoleLab {
      $0.accessToken = "open-sesame"
      $0.activate = ConsoleLab.activates
    }
    #expect(try lab.ask("GET", "/livez").status == 200)
    #expect(try lab.ask("POST", "/deviceservices/deviceActivation").status == 200)
    let target = "/api/v1/info"
    _ = try lab.refusal("GET", target, 401)
    _ = try lab.refusal("GET", target, 401, fields: [HTTPField("Authorization", "Bearer open-sesamf")])
    let bearer = HTTPField("Authorization", "Bearer open-sesame")
    #expect(try lab.ask("GET", target, fields: [bearer]).status == 200)
    #expect(try lab.ask("GET", "/?access=wrong").status == 401)
    let granted = try lab.ask("GET", "/?access=open-sesame")
    #expect(granted.status == 303 && granted.field("location") == "/")
    let cookie = try #require(granted.field("set-cookie")?.split(separator: ";").first)
    let fields = [HTTPField("Cookie", "other=1; \(cookie)")]
    #expect(try lab.ask("GET", target, fields: fields).status == 200)
  }
}
