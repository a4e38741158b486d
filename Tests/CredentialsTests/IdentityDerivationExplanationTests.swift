import PushModel
import Testing

import Credentials

@Suite struct IdentityDerivationExplanationTests {
  @Test("The code over the explained fields is the token", arguments: [nil, TokenContext.starting("Game")])
  func fieldsMakeTheToken(context: TokenContext?) throws {
    let secret = TokenSecret(seed: "explained")
    let udid = try #require(UDID("phone"))
    let topic = try #require(Topic("com.example.app"))
    let message = IdentityDerivation.appTokenMessage(
      environment: .production, udid: udid, topicHash: TopicHash(topic), install: 3, context: context)
    let token = try IdentityDerivation(secret: secret).appToken(
      environment: .production, udid: udid, topicHash: TopicHash(topic), install: 3, context: context)
    let authenticator = try MessageAuthenticator(key: secret.bytes)
    #expect(DeviceToken(bytes: authenticator.code(over: message.flatMap(\.bytes))) == token)
  }
}
