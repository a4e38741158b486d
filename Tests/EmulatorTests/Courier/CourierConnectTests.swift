import CourierWire
import Foundation
import PushModel
import TestSupport
import Testing

import Credentials
import Emulator
import Transport

extension LiveTests {
  @Suite("Courier, connecting")
  struct CourierConnectTests {
    private static let sandbox = "courier.sandbox.push.apple.com"
    private static let production = "courier.push.apple.com"

    @Test("a new device is welcomed with a base token and every item that real clients insist on")
    func welcome() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      let welcome = try #require(device.welcome)
      let token = try #require(welcome.baseToken)
      let time = try #require(welcome.serverTime)
      #expect(abs(Int64(time) - Site.now.milliseconds) < 60_000)
      // `Documentation/device-protocol.md#hex-examples`, "connected".
      let expected =
        "08 00000048 01 0001 00 03 0020 \(token.hex) 04 0002 1000 05 0002 0002 06 0004 0000000c"
        + "08 0002 3c00 0a 0008"
      #expect(device.frames.map(\.command) == [8])
      #expect(device.frames[0].bytes.dropLast(8) == bytes(expected)[...])
    }

    @Test("a device that comes back is not told the token it has, and is told another than the one it offers")
    func comesBack() throws {
      let harness = try EmulatorHarness()
      let first = try harness.device()
      let token = try #require(first.baseToken)
      first.disconnect()
      let same = try harness.device(offering: token)
      #expect(same.welcome?.status == 0 && same.welcome?.baseToken == nil)
      same.disconnect()
      let stranger = try #require(DeviceToken(bytes: Frames.unknownToken))
      let other = try harness.device(offering: stranger)
      #expect(other.welcome?.status == 0 && other.welcome?.baseToken == token)
      other.disconnect()
      let silent = try harness.device()
      #expect(silent.welcome?.baseToken == token)
    }

    @Test("base tokens differ by device and environment")
    func baseTokens() throws {
      let harness = try EmulatorHarness()
      let tokens = try [("phone-1", Self.sandbox), ("phone-1", Self.production), ("phone-2", Self.sandbox)]
        .map {
          try harness.device($0.0, serverName: $0.1).baseToken
        }
      #expect(Set(tokens).count == 3 && !tokens.contains(nil))
    }

    /// What is wrong with a proof of identity, and whether lenient mode lets it pass.
    struct Flaw: CustomTestStringConvertible {
      var testDescription: String
      var passesLeniently = false
      var apply: @Sendable (inout ConnectRequest, EmulatorHarness) throws -> Void

      static func signed(_ request: inout ConnectRequest, nonce: [UInt8], _ identity: DeviceIdentity) throws {
        request.nonce = nonce
        request.signature = try identity.sign(nonce: nonce)
      }

      static func moved(_ request: inout ConnectRequest, _ harness: EmulatorHarness, seconds: Int64) throws {
        let nonce = DeviceNonce.make(now: Site.now.adding(seconds: seconds))
        try signed(&request, nonce: nonce, harness.identity("phone-1"))
      }

      static let all = [
        Flaw(testDescription: "no certificate") { request, _ in request.certificate = nil },
        Flaw(testDescription: "no nonce") { request, _ in request.nonce = nil },
        Flaw(testDescription: "no signature") { request, _ in request.signature = nil },
        Flaw(testDescription: "a certificate that is none") { request, _ in request.certificate = [0x30, 0] },
        Flaw(testDescription: "one bit of the signature") { request, _ in request.signature?[100] ^= 1 },
        Flaw(testDescription: "one bit of the nonce") { request, _ in request.nonce?[16] ^= 1 },
        Flaw(testDescription: "another algorithm in front of the signature") { request, _ in
          request.signature?[0] = 2
        },
        Flaw(testDescription: "the nonce of HTTP") { request, harness in
          var nonce = request.nonce ?? []
          nonce[0] = 1
          try signed(&request, nonce: nonce, harness.identity("phone-1"))
        },
        Flaw(testDescription: "a nonce of 16 bytes") { request, harness in
          try signed(&request, nonce: Array((request.nonce ?? []).dropLast()), harness.identity("phone-1"))
        },
        Flaw(testDescription: "somebody else's signature") { request, harness in
          request.signature = try harness.identity("phone-2").sign(nonce: request.nonce ?? [])
        },
        Flaw(testDescription: "an old nonce", passesLeniently: true) { request, harness in
          try moved(&request, harness, seconds: -1000)
        },
        Flaw(testDescription: "a nonce of the future", passesLeniently: true) { request, harness in
          try moved(&request, harness, seconds: 1000)
        },
        Flaw(testDescription: "a foreign device authority", passesLeniently: true) { request, _ in
          let foreign = try ForeignDevice.identity()
          let nonce = request.nonce ?? []
          (request.certificate, request.signature) = (foreign.certificateDER, try foreign.sign(nonce: nonce))
        },
      ]
    }

    @Test("a proof with a flaw gets status 2 and the end", arguments: Flaw.all)
    func refused(flaw: Flaw) throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness)
      var failure: (any Error)?
      let answer = try device.connect(harness.identity("phone-1")) { request in
        do { try flaw.apply(&request, harness) } catch { failure = error }
      }
      #expect(failure == nil)
      #expect(answer.status == 2 && answer.baseToken == nil)
      harness.turn(until: "the courier ends") { device.recorder.hasEnded }
      #expect(device.recorder.sawClose && device.frames.count == 1)
      #expect(harness.broker.registry.devices.isEmpty)
    }

    @Test("lenient mode lets a foreign authority and a wrong clock pass, a wrong signature never")
    func lenient() throws {
      let harness = try EmulatorHarness { $0.credentials.isLenient = true }
      for flaw in Flaw.all {
        let device = try DeviceClient(harness)
        let answer = try device.connect(harness.identity("phone-1")) { try? flaw.apply(&$0, harness) }
        #expect((answer.status == 0) == flaw.passesLeniently, "\(flaw.testDescription)")
      }
    }

    @Test("a proof is good for one connect: who repeats it gets status 2 and the end")
    func repeatedProof() throws {
      let harness = try EmulatorHarness()
      let proof = try ConnectRequest.proving(harness.identity("phone-1"))
      let device = try DeviceClient(harness)
      try #require(device.connect(harness.identity("phone-1")) { $0 = proof }.status == 0)
      let thief = try DeviceClient(harness)
      #expect(try thief.connect(harness.identity("phone-1")) { $0 = proof }.status == 2)
      harness.turn(until: "the courier ends it") { thief.recorder.hasEnded }
      device.roundTrip()
      #expect(!device.recorder.hasEnded, "the device itself is not disturbed")
      device.send(proof)
      harness.turn(until: "on its own connection too") { device.recorder.hasEnded }
      #expect(try harness.device().welcome?.status == 0)
    }

    @Test("the courier takes its own protocol name or none, and never chooses another")
    func protocolNames() throws {
      let harness = try EmulatorHarness()
      let cases: [([String], String?)] = [
        (["apns-security-v3"], "apns-security-v3"), ([], nil), (["h2"], nil),
        (["apns-pack-v1", "apns-security-v3"], "apns-security-v3"),
        (["apns-security-v2", "apns-security-v3"], "apns-security-v3"),
        (["apns-security-v2"], "apns-security-v2"), (["apns-pack-v1"], "apns-pack-v1"),
        (["apns-pack-v1:4096:4096", "apns-pack-v1"], "apns-pack-v1:4096:4096"),
        (["apns-pack-v1:0:0"], "apns-pack-v1:0:0"), (["apns-pack-v1:16385:0"], nil),
        (["apns-pack-v1:4096"], nil), (["apns-pack-v2"], nil),
      ]
      for (offer, chosen) in cases {
        let device = try DeviceClient(harness, serverName: Self.sandbox, alpn: offer)
        #expect(try device.connect(harness.identity("phone-1")).status == 0)
        #expect(device.connection.alpn == chosen)
      }
    }

    @Test("several identities live on one connection, each with its own token and topics")
    func severalIdentities() throws {
      let harness = try EmulatorHarness()
      let mac = try harness.device("phone-1")
      let first = try #require(mac.baseToken)
      let firstToken = try mac.mint(Site.topic)
      mac.filter([Site.topic])
      mac.send(try ConnectRequest.proving(harness.identity("phone-2")))
      harness.turn(until: "the second is welcomed") { mac.count(.connected) == 2 }
      let second = try #require(mac.baseToken)
      #expect(first != second)
      let secondToken = try mac.mint("com.example.other")
      mac.filter(["com.example.other"])
      mac.roundTrip()
      let provider = try harness.provider()
      provider.send(Frames.full(firstToken, id: 1))
      let other = try harness.provider(.app("com.example.other"))
      other.send(Frames.full(secondToken, id: 2))
      mac.waitForMessages(2)
      #expect(Set(mac.messages.map(\.token)) == [firstToken, secondToken])
      // A second connection of one of them takes only that one away.
      let phone = try harness.device("phone-2")
      phone.filter(["com.example.other"])
      phone.waitForMessages(1)
      #expect(phone.messages.map(\.token) == [secondToken])
    }

    @Test("an app's token stays the same for ever, and differs by device, topic and environment")
    func appTokens() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device(serverName: Self.sandbox)
      let token = try device.mint(Site.topic)
      #expect(try device.mint(Site.topic) == token)
      let other = try device.mint("com.example.other")
      device.disconnect()
      #expect(try harness.offlineToken(serverName: Self.sandbox) == token)
      let production = try harness.offlineToken(serverName: Self.production)
      let phone = try harness.offlineToken("phone-2", serverName: Self.sandbox)
      #expect(Set([token, other, production, phone]).count == 4)
      // `Documentation/device-protocol.md#app-token`: code 0, token, topic.
      let topic = "a003f1da17993ee51f2b3ceef6c6153afa8f3ec2"
      let answer = device.frames.first { $0.command == 0x12 }
      #expect(answer?.bytes == bytes("12 0000003e 01 0001 00 02 0020 \(token.hex) 03 0014 \(topic)"))
    }

    @Test("a token asked for with an app id gets it back; one for somebody else's base token is refused")
    func appTokenAnswers() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      let topic = TopicHash(try #require(Topic(Site.topic)))
      let base = try #require(device.baseToken)
      var request = AppTokenRequest(baseToken: base, topic: topic)
      request.appId = [0x12, 0x34]
      device.send(request)
      device.send(AppTokenRequest(baseToken: DeviceToken(bytes: Frames.unknownToken), topic: topic))
      harness.turn(until: "both are answered") { device.tokenAnswers.count == 2 }
      #expect(device.tokenAnswers[0].status == 0 && device.tokenAnswers[0].appId == [0x12, 0x34])
      #expect(device.tokenAnswers[1].status != 0 && device.tokenAnswers[1].appToken == nil)
    }

    @Test("keep-alive is answered with an empty frame, an upstream message with status before id")
    func answers() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      device.send(bytes("0c 00000000"))
      device.send(bytes("0c 00000007 01 0004 57694669"))
      let topic = TopicHash(try #require(Topic("com.apple.madrid")))
      let base = try #require(device.baseToken)
      device.send(UpstreamMessage(topic: topic, baseToken: base, payload: [1], messageId: 0x1001))
      harness.turn(until: "all are answered") { device.frames.count == 4 }
      #expect(
        device.frames.dropFirst().map(\.bytes) == [
          bytes("0d 00000000"), bytes("0d 00000000"), bytes("0b 0000000b 08 0001 00 04 0004 00001001"),
        ])
    }

    @Test("set-state, unknown commands and unknown items pass unanswered")
    func unknown() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      let base = try #require(device.baseToken)
      device.send(bytes("14 0000000b 01 0001 01 02 0004 7fffffff"))
      device.send(bytes("1e 00000004 01 0001 00"))
      device.send(bytes("ff 00000003 abcdef"))
      device.send(bytes("0c 00000005 77 0002 abcd"))
      device.send(bytes("09 0000002a 01 0020 \(base.hex) 0c 0004 00000001"))
      device.roundTrip()
      device.roundTrip()
      harness.turn(until: "the filter is answered") { device.count(.noStorage) == 1 }
      #expect(device.frames.map(\.command).sorted() == [0x08, 0x0d, 0x0d, 0x0d, 0x0e])
    }
  }
}

/// A device identity of an authority that nobody here knows.
private enum ForeignDevice {
  private static let pems: Result<(certificate: [UInt8], key: [UInt8]), any Error> = Result {
    let folder = CertsFolder(path: try RunFolder.make(now: Site.now))
    let files = try folder.issueDeviceCertificate(udid: #require(UDID("phone-1")), now: Site.now)
    func contents(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }
    return (try contents(files.certificate), try contents(files.key))
  }

  static func identity() throws -> DeviceIdentity {
    let pems = try pems.get()
    return try DeviceIdentity(certificatePEM: pems.certificate, keyPEM: pems.key)
  }
}
