import Basics
import Testing

import Commands

@Suite("push")
struct PushCommandTests {
  @Test("the topic of an .apns file is taken out of what is sent")
  func target() throws {
    let file = Array(#"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"Hi"},"n":1.50}"#.utf8)
    let content = try SimulatorPayload(file, topic: nil)
    #expect(content.topic.name == "com.example.app")
    #expect(JSONReader.read(content.payload)?.string("Simulator Target Bundle") == nil)
    #expect(JSONReader.read(content.payload)?.member("aps")?.string("alert") == "Hi")
  }

  @Test("also of one that is nested deeply")
  func depth() throws {
    let deep = String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)
    let content = try SimulatorPayload(
      Array(#"{"aps":{},"Simulator Target Bundle":"com.example.app","d":\#(deep)}"#.utf8), topic: nil)
    #expect(content.topic.name == "com.example.app")
    #expect(String(decoding: content.payload, as: UTF8.self) == #"{"aps":{},"d":\#(deep)}"#)
  }

  @Test("a topic that is named beats the file's, which is not sent all the same")
  func namedTopic() throws {
    let file = Array(#"{"aps":{},"Simulator Target Bundle":"com.example.app"}"#.utf8)
    let content = try SimulatorPayload(file, topic: "com.example.other")
    #expect(content == (try SimulatorPayload(Array(#"{"aps":{}}"#.utf8), topic: "com.example.other")))
  }

  @Test(
    "a payload without the member goes out as it is, whatever it is",
    arguments: ["{ \"aps\" : {} }", "no JSON"])
  func untouched(text: String) throws {
    #expect(try SimulatorPayload(Array(text.utf8), topic: "com.example.app").payload == Array(text.utf8))
  }

  @Test(
    "without a topic the error says where one was looked for",
    arguments: [
      (#"{"aps":{}}"#, #"TOPIC is missing, and the payload has no "Simulator Target Bundle""#),
      ("nonsense", "TOPIC is missing, and the payload is not JSON"),
      (
        #"{"Simulator Target Bundle":"a b"}"#,
        #""Simulator Target Bundle" expects a bundle id such as com.example.app, got "a b""#
      ),
    ])
  func noTopic(text: String, message: String) throws {
    let error = #expect(throws: UsageError.self) { try SimulatorPayload(Array(text.utf8), topic: nil) }
    #expect(error?.message == message)
  }

  @Test("one line reaches a phone and an app that nobody has heard of, without certificate or token")
  func firstPush() throws {
    let result = try Self.run(
      """
      "$emulator" push phone-9 com.example.first '{"aps":{"alert":"first"}}'
      "$emulator" device --udid phone-9 --topic com.example.first --count 1 --timeout 20
      """)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains(#""accepted":true,"status":200"#), "\(result.output)")
    #expect(result.output.contains("phone-9 is offline, so its notification is stored"))
    #expect(
      result.output.contains(
        #"notification  com.example.first  {"aps":{"alert":"first"}}  (stored while offline)"#),
      "\(result.output)")
  }

  @Test(
    "an .apns file is enough, from standard input too, and background pushes ask for no more than they may")
  func file() throws {
    let result = try Self.run(
      """
      printf '{"aps":{"content-available":1},"Simulator Target Bundle":"com.example.quiet"}' > quiet.apns
      "$emulator" push phone-9 @quiet.apns
      "$emulator" push phone-9 @- < quiet.apns
      "$emulator" tokens --udid phone-9 --bare | wc -l
      curl -sf $api/notifications?topic=com.example.quiet
      """)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.split(separator: #""accepted":true,"status":200,"apnsId""#).count >= 3)
    #expect(result.output.contains("\n1\n"), "the same app is not installed twice: \(result.output)")
    #expect(result.output.contains(#""pushType":"background","priority":5"#), "\(result.output)")
  }

  @Test("what the checks refuse is told with the reason, and ends with 1")
  func refused() throws {
    let result = try Self.run(
      #""$emulator" push phone-9 com.example.app '{}' --priority 7 || echo "ended with $?""#)
    #expect(result.output.contains(#""status":400"#) && result.output.contains("BadPriority"))
    #expect(result.output.contains("ended with 1"), "\(result.output)")
  }

  private static func run(_ script: String) throws -> ForeignProgram.Result {
    let program = try BuiltProgram()
    defer { program.remove() }
    return try program.exec(script: script)
  }
}
