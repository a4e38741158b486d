import Basics
import PushModel
import Testing

import Broker

@Suite("Rows of tokens in saved states")
struct TokenRowTests {
  let lab = Lab()

  @Test("what another node says of a row that waits for feedback, or waits no more, is said once or often")
  func awaitsFeedback() throws {
    let (device, topic) = (try lab.device(), try lab.topic())
    var told = TokenRow()
    told.token = DeviceToken(bytes: [UInt8](repeating: 7, count: 32))
    (told.isGone, told.goneAt) = (true, lab.now)
    for awaits in [false, true, true, false, false, true] {
      told.awaitsFeedback = awaits
      #expect(lab.broker.rows.admit(told, of: device, topic, because: .replicated, now: lab.now) == 0)
      #expect(lab.broker.feedback.rows == (awaits ? [0] : []))
    }
  }

  private func goneAt(_ text: String) throws -> Timestamp? {
    var row = TokenRow()
    let document = #"{"state":"gone","goneAt":"\#(text)"}"#
    try JSONForm(TokenRow.form.members).read(JSONObject(body: Array(document.utf8)), into: &row)
    return row.goneAt
  }

  @Test("a token is gone at any time but the last, which says that it is not")
  func goneAt() throws {
    #expect(try goneAt("2262-04-11T23:47:16Z") == Timestamp(seconds: 9_223_372_036))
    for text in ["2262-04-11T23:47:17Z", "9999-12-31T23:59:59Z"] {
      #expect(throws: DocumentError.self) { try goneAt(text) }
    }
  }
}
