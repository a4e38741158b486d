import Foundation
import Testing

/// `Sources/ARCHITECTURE.md#promises` 6: whatever is said, and however much of it, keys, provider tokens and payloads
/// are not in it.
@Suite("Promise 6: no secret in a log")
struct SecretsTests {
  @Test(
    "neither format tells a payload, a provider token, a device token, a key or the token seed",
    arguments: ["text", "json"])
  func log(format: String) throws {
    let program = try BuiltProgram()
    defer { program.remove() }
    let flags = ["--log-level", "debug", "--log-format", format, "--token-seed", "seed-of-nobody"]
    let result = try program.exec(
      flags,
      script: """
        "$emulator" certs key --team TEAM123456 >/dev/null
        push() { "$emulator" send --topic com.example.app --payload '{"aps":{"alert":"payload-of-nobody"}}' "$@" >/dev/null; }
        curl -sf -X POST $api/devices/phone-1/apps/com.example.app/install >/dev/null
        token=$("$emulator" tokens --bare)
        echo $token > token
        push --token $token --legacy 2 --wait 300ms
        push --token $token --key certs/keys/AuthKey_*.p8
        push --token abcd --key certs/keys/AuthKey_*.p8 || true
        push --token abcd --legacy 2 || true
        curl -s -d {} http://$APNS_EMULATOR_CONSOLE/3/device/$token/ >/dev/null
        curl -sf -H 'content-type: application/json' $api/faults >/dev/null \
          -d '{"name":"faulted","match":{"topic":"com.example.app"},"when":{"next":1},"effect":{"reason":"Shutdown"}}'
        push --token $token --legacy 2 || true
        curl -s -H 'authorization: bearer eyJ-of-nobody' -d payload-of-nobody \\
          -H 'content-type: application/json' http://$APNS_EMULATOR_CONSOLE/3/device/$token >/dev/null
        """)
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("com.example.app"), "the log says something")
    #expect(result.output.contains("faulted"), "the log tells of faults")
    let token = try String(contentsOf: program.folder.appending(path: "token"), encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(token.count == 64 && result.output.contains(token.prefix(16)))
    let keys = program.folder.appending(path: "certs/keys")
    let key = try #require(
      try FileManager.default.contentsOfDirectory(atPath: keys.path()).first { $0.hasSuffix(".p8") })
    let secret = try String(contentsOf: keys.appending(path: key), encoding: .utf8).split(separator: "\n")[1]
    for word in ["of-nobody", "eyJ", "bearer", "PRIVATE KEY", String(secret), token] {
      #expect(!result.output.contains(word), "the log tells \(word):\n\(result.output)")
    }
  }
}
