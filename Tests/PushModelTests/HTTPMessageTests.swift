import PushModel
import Testing

@Suite("HTTP message")
struct HTTPMessageTests {
  @Test("recognises every name of the table and no other")
  func names() {
    for field in ProviderField.allCases {
      var message = HTTPMessage()
      message.append(name: field.name.description, value: "v")
      #expect(message.text(field) == "v")
      for other in ProviderField.allCases where other != field { #expect(message.text(other) == nil) }
      var foreign = HTTPMessage()
      foreign.append(name: String(field.name.description.dropLast()) + "\u{7f}", value: "v")
      #expect(ProviderField.allCases.allSatisfy { foreign.text($0) == nil })
    }
    #expect(ProviderField.allCases.count <= SIMD16<UInt16>.scalarCount)
  }

  @Test("keeps the first value of a repeated field and notes the repetition")
  func repetition() {
    var message = HTTPMessage()
    message.append(name: "Apns-Topic", value: "first")
    message.append(name: "apns-topic", value: "second")
    #expect(message.text(.apnsTopic) == "first")
    #expect(message.repeated == ProviderFieldSet(.apnsTopic))
    #expect(message.fields.map(\.value) == ["first", "second"])
  }

  @Test("tells an empty value from an absent field")
  func empty() {
    var message = HTTPMessage()
    message.append(name: "apns-topic", value: "")
    #expect(message.text(.apnsTopic)?.isEmpty == true)
    #expect(message.text(.apnsId) == nil)
  }

  @Test("takes fields up to the list limit, 32 bytes added for each, and not one more")
  func limit() {
    var message = HTTPMessage()
    let value = String(repeating: "x", count: HTTPMessage.fieldListLimit - 33)
    let taken = (message.append(name: "a", value: value), message.append(name: "b", value: ""))
    #expect(taken == (true, false))
    message.reset()
    let isTaken = message.append(name: "a", value: value + "x")
    #expect(!isTaken)
    #expect(message.fields.isEmpty)
  }

  @Test("keeps values in place while it grows, and a body apart from them")
  func growth() {
    var message = HTTPMessage(bodyLimit: 9000)
    for number in 0..<100 { message.append(name: "x-\(number)", value: "value \(number)") }
    message.append(name: ":path", value: "/3/device/00")
    for byte in 0..<100 { message.appendBody([UInt8](repeating: UInt8(byte), count: 100).span) }
    #expect(message.text(.path) == "/3/device/00")
    #expect(message.fields[99].value == "value 99")
    #expect(message.body.count == 9000)
    #expect(message.body[8999] == 89)
    #expect(message.bodyByteCount == 10_000)
  }

  @Test("is empty again after a reset")
  func reset() {
    var message = HTTPMessage()
    message.append(name: "apns-new", value: "1")
    message.append(name: "apns-new", value: "2")
    message.append(name: "apns-id", value: "1")
    message.append(name: "apns-id", value: "2")
    message.appendBody([UInt8](repeating: 1, count: 9000).span)
    message.reset()
    #expect(message.fields.isEmpty && message.body.isEmpty && message.bodyByteCount == 0)
    #expect(message.repeated == [] && !message.repeatsUnknownAPNsField && message.text(.apnsId) == nil)
    message.append(name: "apns-id", value: "3")
    #expect(message.text(.apnsId) == "3")
  }
}
