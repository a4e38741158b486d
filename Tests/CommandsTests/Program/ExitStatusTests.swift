import Foundation
import Platform
import Testing

import Commands

/// The program as it was built: exit statuses and sentences (`Documentation/configuration.md#exit-status`).
@Suite("Exit statuses")
struct ExitStatusTests {
  private static func run(_ words: String..., environment: [String: String] = [:]) throws
    -> ForeignProgram.Result
  {
    let program = try BuiltProgram()
    defer { program.remove() }
    return try ForeignProgram.run(program.path, words, environment: environment, folder: program.folder)
  }

  @Test("help and version are fine")
  func fine() throws {
    let help = try Self.run("--help")
    #expect(help.status == 0)
    #expect(help.output.contains("apns-emulator serve"))
    #expect(try Self.run("--version").output == "apns-emulator \(Program.version)\n")
  }

  @Test("a command line that makes no sense ends with 2")
  func usage() throws {
    let result = try Self.run("serve", "--gatway-port", "1")
    #expect(result.status == 2)
    #expect(
      result.output
        == "apns-emulator: serve has no flag --gatway-port; did you mean --gateway-port? "
        + "(run apns-emulator serve --help)\n")
  }

  @Test("so does a variable that makes no sense")
  func environment() throws {
    let result = try Self.run("serve", environment: ["APNS_EMULATOR_GATEWAY_PORT": "70000"])
    #expect(result.status == 2)
    #expect(result.output.contains("APNS_EMULATOR_GATEWAY_PORT expects a port from 0 to 65535, or off"))
  }

  @Test("a port that is taken ends with 3 and is named with its listener")
  func portInUse() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let result = try program.exec(
      script: """
        port=${APNS_EMULATOR_COURIER##*:}
        status=0
        "$emulator" serve --gateway-port 0 --feedback-port 0 --provider-port 0 --console-port 0 \\
          --courier-port $port --ephemeral || status=$?
        echo "ended with $status, port $port"
        """)
    #expect(result.output.contains("ended with 3"))
    let port = try #require(result.output.split(separator: " ").last).filter(\.isNumber)
    #expect(result.output.contains("courier: can't listen on 127.0.0.1:\(port): Address already in use"))
    #expect(result.output.contains("--courier-port"))
  }

  @Test("a store that can't be used ends with 4")
  func store() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let data = program.folder.appending(path: "data")
    try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
    try Data(repeating: 0x55, count: 8192).write(to: data.appending(path: "store.db"))
    let result = try program.run("exec", "--data", "data", "--", "true")
    #expect(result.status == 4, "\(result.output)")
    #expect(result.output.contains("data/store.db"))
  }

  @Test("nobody there is a failure that says what to do", arguments: ["tokens", "tail", "health"])
  func nobody(command: String) throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    try Data(#"{"console": {"host": "127.0.0.1", "port": 1}}"#.utf8)
      .write(to: program.folder.appending(path: "ports.json"))
    let result = try program.run(command, "--ports-file", "ports.json")
    #expect(result.status == 1)
    #expect(result.output.contains("start one with: apns-emulator serve"))
  }

  @Test(
    "exec ends as its command does",
    arguments: [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143)] as [(String, Int32)])
  func exec(script: String, status: Int32) throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    #expect(try program.exec(script: script).status == status)
  }

  @Test("exec ends with 127 if its command can't be run")
  func execNothing() throws {
    let result = try Self.run("exec", "--", "no-such-program")
    #expect(result.status == 127)
    #expect(result.output == "apns-emulator: can't run no-such-program: No such file or directory\n")
  }

  @Test("exec tells its command where everything is, and leaves only certificates")
  func execEnvironment() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let result = try program.exec(
      script: """
        set -e
        test -f "$APNS_EMULATOR_CA"
        [ "$(head -c $(wc -c < "$APNS_EMULATOR_CA") "$SSL_CERT_FILE")" = "$(cat "$APNS_EMULATOR_CA")" ]
        for name in CURL_CA_BUNDLE REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS; do eval test "\\$$name" = "$SSL_CERT_FILE"; done
        test -f "$APNS_EMULATOR_CERTS/server.pem"
        for address in $APNS_EMULATOR_GATEWAY $APNS_EMULATOR_FEEDBACK $APNS_EMULATOR_PROVIDER \\
          $APNS_EMULATOR_COURIER $APNS_EMULATOR_CONSOLE; do test "${address%:*}" = 127.0.0.1; done
        "$emulator" health
        echo "$APNS_EMULATOR_PORTS_FILE"
        """)
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "ready")
    let portsFile = try #require(lines.last)
    #expect(!FileManager.default.fileExists(atPath: portsFile), "the ports file goes with the emulator")
    #expect(try FileManager.default.contentsOfDirectory(atPath: program.folder.path()) == ["certs"])
  }

  @Test("certs push says what it replaces, if that was for other topics")
  func replacedCertificate() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let result = try program.exec(
      script: """
        set -e
        for flags in "" "" --single --single ""; do
          echo "flags $flags"
          "$emulator" certs push --topic com.example.app $flags > /dev/null
        done
        """)
    let said = result.output.split(separator: "\n").map(String.init)
    let replaced = "apns-emulator: replaced the certificate of the same name, which was for com.example.app"
    #expect(
      said == [
        "flags ", "flags ", "flags --single",
        "\(replaced), com.example.app.voip, com.example.app.complication",
        "flags --single", "flags ", replaced,
      ])
  }

  @Test(
    "device and send follow the environment of the emulator that they find",
    arguments: ["production", "sandbox"])
  func environmentOfEmulator(name: String) throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let result = try program.exec(
      ["--environment", name],
      script: """
        set -e
        "$emulator" certs push --topic com.example.app > /dev/null
        "$emulator" device --udid phone-1 --topic com.example.app --json --timeout 30s --count 1 | while read -r line; do
          case "$line" in *'"event":"token"'*)
            "$emulator" send --topic com.example.app --token "$("$emulator" tokens --udid phone-1 --bare)" \\
              --payload '{"aps":{"alert":"Hi"}}' --cert certs/push/com.example.app.pem;;
          esac
        done
        "$emulator" tokens --json
        """)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains(#""status":200"#), "\(result.output)")
    #expect(result.output.contains(#""environment":"\#(name)""#), "\(result.output)")
  }

  @Test("beyond loopback the console wants its access token, which exec passes on, and the ports file has")
  func access() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let result = try program.exec(
      ["--bind", "0.0.0.0"],
      script: """
        "$emulator" tokens --bare
        (unset APNS_EMULATOR_ACCESS && "$emulator" tokens --bare)
        [ "$(stat -L -c %a $APNS_EMULATOR_PORTS_FILE 2>/dev/null || stat -L -f %Lp $APNS_EMULATOR_PORTS_FILE)" = 600 ]
        "$emulator" tokens --access wrong || echo "ended with $?"
        """)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("the console answered 401"))
    #expect(result.output.hasSuffix("ended with 1\n"))
  }

  @Test("the access token may be chosen; it is not printed then, and commands find it in the environment")
  func chosenAccess() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let result = try program.run(
      "exec", "--bind", "0.0.0.0", "--", program.path, "tokens", "--json",
      environment: ["APNS_EMULATOR_ACCESS": "chosen-by-me"])
    #expect(result.status == 0, "\(result.output)")
    #expect(!result.output.contains("chosen-by-me"))
    let wrong = try program.run(
      "exec", "--bind", "0.0.0.0", "--access", "chosen-by-me", "--", program.path, "tokens", "--access",
      "guessed")
    #expect(wrong.status == 1 && wrong.output.contains("401"), "\(wrong.output)")
    for text in ["short", "with a blank", "semi;colon"] {
      let refused = try program.run("serve", "--access", text)
      #expect(refused.status == 2 && !refused.output.contains(text), "\(refused.output)")
    }
  }

  @Test("without the access token each command that needs it says which flag it wants")
  func accessAdvice() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let commands = [
      "tokens", "tail", "export", "import empty.json", "push phone-1 com.example.app '{}'",
    ]
    let result = try program.exec(
      ["--bind", "0.0.0.0"],
      script: """
        export APNS_EMULATOR_ACCESS=another
        echo '{"version": 1}' > empty.json
        \(commands.map { "\"$emulator\" \($0) && exit 9" }.joined(separator: "\n"))
        exit 0
        """)
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == commands.count, "\(result.output)")
    for line in lines {
      #expect(line.contains("--access TOKEN") && line.contains("APNS_EMULATOR_ACCESS"), "\(line)")
    }
  }

  @Test("an exec within an exec leaves the outer one its ports file")
  func nested() throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let result = try program.exec(
      script: """
        "$emulator" exec -- sh -c 'echo "$APNS_EMULATOR_CONSOLE"'
        "$emulator" health
        echo "$APNS_EMULATOR_CONSOLE"
        """)
    let lines = result.output.split(separator: "\n")
    #expect(result.status == 0, "\(result.output)")
    #expect(lines.count == 3 && lines[1] == "ready" && lines[0] != lines[2], "\(result.output)")
  }
}
