import Basics
import Credentials
import Testing

import Emulator
import Transport

extension LiveTests.ProviderAnswerTests {
  /// A change to a good push, and what it brings.
  struct Row: CustomTestStringConvertible, Sendable {
    var testDescription: String
    /// 200 for accepted.
    var status: Int
    var reason: String?
    var change: @Sendable (inout ProviderRequest, Stage) throws -> Void

    init(
      _ name: String, _ status: Int, _ reason: String? = nil,
      _ change: @escaping @Sendable (inout ProviderRequest, Stage) throws -> Void
    ) {
      (testDescription, self.status, self.reason, self.change) = (name, status, reason, change)
    }

    /// One field with another value, or without.
    init(_ field: String, _ value: String?, _ status: Int, _ reason: String? = nil) {
      self.init("\(field): \(value ?? "absent")", status, reason) { request, _ in request[field] = value }
    }
  }

  static func body(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x20, count: count) }

  /// `Documentation/provider-api.md#example-push`, and the rest of `Documentation/provider-api.md#reasons` by one
  /// change each.
  static let rows: [Row] = [
    Row("nothing", 200) { _, _ in },
    // Method, path, repeated fields
    Row("method GET", 405, "MethodNotAllowed") { request, _ in request.method = "GET" },
    Row("method PUT", 405, "MethodNotAllowed") { request, _ in request.method = "PUT" },
    Row("path /3/devices/", 404, "BadPath") { request, stage in
      request.path = "/3/devices/\(stage.token.hex)"
    },
    Row("path /", 404, "BadPath") { request, _ in request.path = "/" },
    Row("path /3/device without a slash", 404, "BadPath") { request, _ in request.path = "/3/device" },
    Row("a part behind the token", 404, "BadPath") { request, _ in request.path += "/x" },
    Row("apns-priority twice", 400, "DuplicateHeaders") { request, _ in
      request.fields.append(("apns-priority", "10"))
    },
    Row("authorization twice", 400, "DuplicateHeaders") { request, stage in
      request.fields.append(("authorization", try stage.harness.bearer()))
    },
    Row("an unknown apns- field twice", 400, "DuplicateHeaders") { request, _ in
      request.fields += [("apns-future", "1"), ("apns-future", "1")]
    },
    Row("a field that is none of APNs' twice", 200) { request, _ in
      request.fields += [("x-trace", "1"), ("x-trace", "2"), ("content-type", "text/plain")]
    },
    // Id
    Row("apns-id", "xyz", 400, "BadMessageId"), Row("apns-id", "", 400, "BadMessageId"),
    Row("apns-id", nil, 200), Row("apns-id", ownID.uppercased(), 200),
    // Authentication
    Row("authorization", nil, 403, "MissingProviderToken"),
    Row("authorization", "basic abc", 403, "MissingProviderToken"),
    Row("authorization", "bearer nonsense", 403, "InvalidProviderToken"),
    Row("authorization with a capital letter", 200) { request, stage in
      request["authorization"] = "B" + (try stage.harness.bearer()).dropFirst()
    },
    Row("a key id that does not exist", 403, "InvalidProviderToken") { request, stage in
      let signer = try ProviderTokenSigner(
        p8Path: stage.harness.certs + "/keys/AuthKey_\(Site.teamKey).p8", keyId: "NOSUCHKEY1",
        teamId: Site.team)
      request["authorization"] = "bearer " + (try signer.token(at: stage.harness.clock.now()))
    },
    Row("another team's name with our key", 403, "InvalidProviderToken") { request, stage in
      request["authorization"] = try stage.harness.bearer(team: Site.otherTeam)
    },
    Row("one character of the signature", 403, "InvalidProviderToken") { request, stage in
      var token = try stage.harness.bearer()
      let last = token.removeLast()
      request["authorization"] = String(token.dropLast()) + (token.last == "A" ? "B" : "A") + String(last)
    },
    Row("a token of 59 minutes", 200) { request, stage in
      let then = stage.harness.clock.now().adding(seconds: -59 * 60)
      request["authorization"] = try stage.harness.bearer(at: then)
    },
    Row("a token of 61 minutes", 403, "ExpiredProviderToken") { request, stage in
      let then = stage.harness.clock.now().adding(seconds: -61 * 60)
      request["authorization"] = try stage.harness.bearer(at: then)
    },
    Row("a key of the other environment", 403, "BadEnvironmentKeyInToken") { request, stage in
      request["authorization"] = try stage.harness.bearer(Site.productionKey)
    },
    Row("a key of this environment", 200) { request, stage in
      request["authorization"] = try stage.harness.bearer(Site.sandboxKey)
    },
    Row("a key of the topic", 200) { request, stage in
      request["authorization"] = try stage.harness.bearer(Site.topicKey)
    },
    Row("a key of another topic", 400, "TopicDisallowed") { request, stage in
      request["authorization"] = try stage.harness.bearer(Site.otherTopicKey)
    },
    // Syntax of the other fields
    Row("apns-push-type", "foo", 400, "InvalidPushType"), Row("apns-push-type", "", 400, "InvalidPushType"),
    Row("apns-push-type", nil, 200), Row("apns-push-type", "mdm", 200),
    Row("apns-priority", "7", 400, "BadPriority"), Row("apns-priority", "010", 400, "BadPriority"),
    Row("apns-priority", "", 400, "BadPriority"), Row("apns-priority", "5", 200),
    Row("apns-priority", "1", 200), Row("apns-priority", nil, 200),
    Row("background with priority 10", 400, "BadPriority") { request, _ in
      request["apns-push-type"] = "background"
    },
    Row("background with priority 5", 200) { request, _ in
      request["apns-push-type"] = "background"
      request["apns-priority"] = "5"
    },
    Row("apns-expiration", "soon", 400, "BadExpirationDate"),
    Row("apns-expiration", "-1", 400, "BadExpirationDate"),
    Row("apns-expiration", "", 400, "BadExpirationDate"),
    Row("apns-expiration", "0", 200), Row("apns-expiration", nil, 200),
    Row("apns-collapse-id", String(repeating: "c", count: 64), 200),
    Row("apns-collapse-id", String(repeating: "c", count: 65), 400, "BadCollapseId"),
    // Topic
    Row("apns-topic", nil, 400, "MissingTopic"), Row("apns-topic", "", 400, "MissingTopic"),
    Row("apns-topic", "com example", 400, "BadTopic"),
    Row("apns-topic", String(repeating: "t", count: 256), 400, "BadTopic"),
    // Token
    Row("no token", 400, "MissingDeviceToken") { request, _ in request.path = "/3/device/" },
    Row("token zz", 400, "BadDeviceToken") { request, _ in request.path = "/3/device/zz" },
    Row("token zz without authorization", 403, "MissingProviderToken") { request, _ in
      request.path = "/3/device/zz"
      request["authorization"] = nil
    },
    Row("a token of 62 digits", 400, "BadDeviceToken") { request, _ in
      request.path = String(request.path.dropLast(2))
    },
    Row("a token that was never issued", 400, "BadDeviceToken") { request, _ in
      request.path = "/3/device/" + Hex.encode(Frames.unknownToken)
    },
    Row("a token in capital letters", 200) { request, stage in
      request.path = "/3/device/" + stage.token.hex.uppercased()
    },
    Row("a token of the other environment", 400, "BadDeviceToken") { request, stage in
      request.path = "/3/device/" + stage.otherEnvironment.hex
    },
    Row("a token of another app", 400, "DeviceTokenNotForTopic") { request, stage in
      request.path = "/3/device/" + stage.otherApp.hex
    },
    // Body
    Row("no body", 400, "PayloadEmpty") { request, _ in request.body = [] },
    Row("a body of 4096 bytes", 200) { request, _ in request.body = body(4096) },
    Row("a body of 4097 bytes", 413, "PayloadTooLarge") { request, _ in request.body = body(4097) },
    Row("a body of 100,000 bytes", 413, "PayloadTooLarge") { request, _ in request.body = body(100_000) },
    Row("voip with 5120 bytes", 200) { request, stage in
      voip(&request, stage)
      request.body = body(5120)
    },
    Row("voip with 5121 bytes", 413, "PayloadTooLarge") { request, stage in
      voip(&request, stage)
      request.body = body(5121)
    },
    Row("a body that is no JSON", 200) { request, _ in request.body = Array("{".utf8) },
  ]

  static func voip(_ request: inout ProviderRequest, _ stage: Stage) {
    request.path = "/3/device/" + stage.voip.hex
    request["apns-topic"] = Site.topic + ".voip"
    request["apns-push-type"] = "voip"
  }
}
