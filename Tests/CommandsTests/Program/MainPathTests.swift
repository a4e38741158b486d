import Testing

import Commands

/// The main path with the program's own commands, as a person would walk it: each test is a script that `exec` runs.
@Suite("The main path by command")
struct MainPathTests {
  /// `token` for a device that has the app but is not connected.
  private static let preparation = """
    topic=com.example.app
    curl -sf -X POST $api/devices/phone-1/apps/$topic/install >/dev/null
    token=$("$emulator" tokens --udid phone-1 --bare)
    send() { "$emulator" send --topic $topic --token $token --wait 300ms "$@"; }
    phone() { "$emulator" device --udid phone-1 --topic $topic --timeout 20 "$@"; }

    """

  private static func run(_ script: String) throws -> ForeignProgram.Result {
    let program = try BuiltProgram()
    defer { program.remove() }
    return try program.exec(script: preparation + script)
  }

  /// The lines that the phone printed about notifications.
  private static func notifications(_ result: ForeignProgram.Result) -> [String] {
    result.output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("notification") }
  }

  @Test("each command of the binary protocol and both ways of today reach a phone")
  func everyWay() throws {
    let result = try Self.run(
      """
      "$emulator" certs key --team TEAM123456 >/dev/null
      phone --count 5 >phone.log &
      phone=$!
      until grep -qs ^token phone.log; do sleep 0.05; done
      for command in 0 1 2; do send --legacy $command --payload '{"aps":{"alert":"command '$command'"}}'; done
      send --payload '{"aps":{"alert":"certificate"}}'
      send --key certs/keys/AuthKey_*.p8 --payload '{"aps":{"alert":"key"}}'
      wait $phone
      cat phone.log
      """)
    #expect(result.status == 0, "\(result.output)")
    #expect(
      Self.notifications(result)
        == ["command 0", "command 1", "command 2", "certificate", "key"].map {
          #"notification  com.example.app  {"aps":{"alert":"\#($0)"}}"#
        })
  }

  @Test("a phone that was offline gets the last of three, once")
  func lastMessage() throws {
    let result = try Self.run(
      """
      for number in 1 2 3; do send --legacy 1 --identifier $number --payload '{"aps":{"badge":'$number'}}'; done
      phone --count 1
      phone --timeout 1
      """)
    #expect(result.status == 0, "\(result.output)")
    #expect(
      Self.notifications(result) == [
        #"notification  com.example.app  {"aps":{"badge":3}}  (stored while offline)"#
      ])
  }

  @Test("a refusal is told as it came, and ends with 1")
  func refusal() throws {
    let result = try Self.run(
      """
      token=abababababababababababababababababababababababababababababababab
      for command in 0 1 2; do send --legacy $command --identifier 42 && exit 9; done
      send && exit 9
      token=abab
      send --legacy 2 --identifier 7 || echo "ended with $?"
      """)
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 6, "\(result.output)")
    #expect(
      lines[0].contains(
        #""accepted":false,"explanation":"the connection was closed without an error packet""#))
    #expect(lines[1].contains(#""command":1,"accepted":false,"status":8,"identifier":42"#))
    #expect(lines[2].contains(#""command":2,"accepted":false,"status":8,"identifier":42"#))
    #expect(lines[3].contains(#""status":400"#) && lines[3].contains(#""reason":"BadDeviceToken""#))
    #expect(lines[4].contains(#""status":5,"identifier":7"#))
    #expect(lines[5] == "ended with 1")
  }

  @Test("a push over HTTP/2 has an outcome whatever became of it, and the emulator's reason for it")
  func explained() throws {
    let result = try Self.run(
      """
      magic() { printf '%-64s' "$(printf '!%s' "$1" | od -An -v -tx1 | tr -d ' \\n')" | tr ' ' 0; }
      for word in TooManyRequests rst=7 close stall; do
        token=$(magic $word)
        send --timeout 1 && exit 9
      done
      true
      """)
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 4, "\(result.output)")
    guard lines.count == 4 else { return }
    #expect(lines[0].contains(#""status":429"#) && lines[0].contains("got !TooManyRequests"))
    #expect(lines.dropFirst().allSatisfy { $0.hasPrefix(#"{"interface":"provider","accepted":false"#) })
    #expect(lines[1].contains("REFUSED_STREAM") && lines[2].contains("closed without an answer"))
    #expect(lines[3].contains("no answer within"))
  }

  @Test("the tokens alone are those that can be pushed to, unless others are asked for")
  func bareTokens() throws {
    let result = try Self.run(
      """
      curl -sf -X POST $api/devices/phone-1/apps/$topic/remove >/dev/null
      phone --count 1 --timeout 9 >/dev/null &
      phone=$!
      old=$token
      until token=$("$emulator" tokens --udid phone-1 --bare) && test -n "$token" -a "$token" != "$old"; do sleep 0.05; done
      "$emulator" tokens --bare | wc -l
      "$emulator" tokens --json | wc -l
      send >/dev/null
      wait $phone
      """)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.split(whereSeparator: \.isWhitespace) == ["1", "2"], "\(result.output)")
  }

  @Test("a removed app is in the feedback once, and then answered 410")
  func feedback() throws {
    let result = try Self.run(
      """
      (exec "$emulator" device --udid phone-1 --topic $topic --timeout 20 >phone.log) &
      phone=$!
      until grep -qs ^token phone.log; do sleep 0.05; done
      curl -sf -X POST $api/devices/phone-1/apps/$topic/remove >/dev/null
      send --legacy 1 >/dev/null
      "$emulator" feedback --topic $topic
      "$emulator" feedback --topic $topic
      send || true
      "$emulator" tokens --state gone --bare
      kill $phone
      echo $token
      """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 4, "\(result.output)")
    guard lines.count == 4 else { return }
    #expect(lines[0].hasPrefix(#"{"timestamp":"#) && lines[0].contains(lines[3]))
    #expect(lines[1].contains(#""status":410"#) && lines[1].contains(#""reason":"Unregistered""#))
    #expect(lines[2] == lines[3])
  }

  @Test("a push is repeated and counted, on both interfaces")
  func count() throws {
    let result = try Self.run(
      """
      send --count 1500
      for command in 0 1 2; do send --legacy $command --count 300; done
      curl -sf "$api/tokens?token=$token" >/dev/null
      token=abababababababababababababababababababababababababababababababab
      send --count 20 || true
      send --legacy 1 --count 20 --identifier 7 && exit 9
      true
      """)
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 6, "\(result.output)")
    guard lines.count == 6 else { return }
    #expect(lines[0].contains(#""accepted":true,"count":1500,"acceptedCount":1500,"rejectedCount":0"#))
    for line in lines[1...3] { #expect(line.contains(#""accepted":true,"count":300,"acceptedCount":300"#)) }
    #expect(lines[4].contains(#""rejectedCount":20,"unansweredCount":0,"reasons":{"BadDeviceToken":20}"#))
    #expect(
      lines[5].contains(#""status":8,"identifier":7,"#)
        && lines[5].contains(#""acceptedCount":0,"resend":19"#))
  }

  @Test("a phone that waits in vain ends with 1 and says how many did not come")
  func timeout() throws {
    let result = try Self.run("phone --count 2 --timeout 500ms")
    #expect(result.status == 1)
    #expect(result.output.contains("apns-emulator: timed out: 2 notifications did not come"))
  }

  @Test("the token seed decides the tokens")
  func tokenSeed() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let script = Self.preparation + "echo $token"
    let first = try program.exec(["--token-seed", "a"], script: script)
    #expect(first.status == 0, "\(first.output)")
    #expect(first.output.count == 65)
    #expect(try program.exec(["--token-seed", "a"], script: script).output == first.output)
    #expect(try program.exec(["--token-seed", "b"], script: script).output != first.output)
  }

  @Test("a certificate for the other environment is told apart from a token that nobody knows")
  func otherEnvironment() throws {
    let result = try Self.run(
      """
      "$emulator" certs push --topic $topic --environment production >/dev/null
      send || true
      send --environment production || true
      """)
    let lines = result.output.split(separator: "\n")
    #expect(
      lines.contains { $0.contains(#""goaway":true,"reason":"BadCertificateEnvironment""#) },
      "\(result.output)")
    #expect(lines.last?.contains(#""reason":"BadDeviceToken""#) == true)
  }
}
