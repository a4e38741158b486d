import Basics
import Cluster
import Emulator
import Platform
import Recorder
import Testing
import Zones

import Commands

@Suite("Flags of serve as options")
struct ServeOptionsTests {
  private static func settings(_ words: [String]) throws -> Settings {
    let parser = CommandLineParser(commands: CommandTable.commands, environment: [:]) { _ in [] }
    guard case .run(_, let settings) = try parser.parse(words) else { throw UsageError("no command") }
    return settings
  }

  private static func options(_ words: String...) throws -> ServeOptions {
    ServeOptions(try settings(["serve"] + words))
  }

  @Test("without flags the defaults are those of the options")
  func standard() throws {
    #expect(String(reflecting: try Self.options()) == String(reflecting: ServeOptions()))
  }

  @Test("each listener may have its port, any free one, or none")
  func ports() throws {
    let options = try Self.options(
      "--gateway-port", "1", "--feedback-port", "0", "--provider-port", "off", "--courier-port=2",
      "--console-port=3")
    #expect(options.listeners.gateway == .number(1))
    #expect(options.listeners.feedback == .number(0))
    #expect(options.listeners.provider == .off)
    #expect(options.listeners.courier == .number(2))
    #expect(options.listeners.console == .number(3))
  }

  @Test("the proxy gives its port up to who has it, unless it was told the port")
  func proxyPort() throws {
    #expect(try Self.options().listeners.proxy == .preferred(8791))
    #expect(try Self.options("--proxy-port", "8791").listeners.proxy == .number(8791))
    #expect(try Self.options("--proxy-port", "0").listeners.proxy == .number(0))
    #expect(try Self.options("--proxy-port", "off").listeners.proxy == .off)
    let guest = ExecCommand.options(try Self.settings(["exec", "--proxy", "--", "true"]))
    #expect(guest.listeners.proxy == .number(0))
  }

  @Test("the proxy's tunnels lead to port 443 unless they name another")
  func proxyTunnels() throws {
    let options = try Self.options(
      "--proxy-tunnel", "example.com", "--proxy-tunnel", "example.com:8443", "--proxy-tunnel", "[::1]",
      "--proxy-tunnel", "[::1]:8443", "--proxy-tunnel", "::1")
    let expected = ["example.com:443", "example.com:8443", "[::1]:443", "[::1]:8443", "[::1]:443"]
    #expect(options.listeners.proxyTunnels.map(\.description) == expected)
  }

  @Test(
    "what is no host is no tunnel",
    arguments: ["", ":443", "example.com:", "example.com:0", "a b", "https://a"])
  func noTunnels(text: String) throws {
    #expect(throws: UsageError.self) { try Self.options("--proxy-tunnel", text) }
  }

  /// Every other flag with a value that is not its default: each must change something.
  @Test(
    "every flag changes the options",
    arguments: [
      ["--bind", "::1"], ["--certs", "c"], ["--data", "d"], ["--ephemeral"], ["--ports-file", "p"],
      ["--environment", "production"], ["--lenient"], ["--legacy-tls"], ["--token-seed", "t"],
      ["--seed", "7"],
      ["--history", "1"], ["--capture", "f"], ["--log-format", "json"], ["--log-level", "error"],
      ["--log-file", "f"],
      ["--token-length", "1..32"],
      ["--payload-limit", "256"], ["--echo-empty-token"], ["--gone-grace", "1h"], ["--throttle-rejections"],
      ["--flood-limit", "5"], ["--idle-timeout", "90"], ["--token-update-scope", "off"],
      ["--token-update-limit", "1"], ["--documented-tokens"], ["--seed-data", "f"], ["--dashboard", "d"],
      ["--allow-host", "h"], ["--activation", "token"], ["--activation", "off"],
      ["--token-lifetime", "1h"], ["--without-broadcast", "com.example.app"],
      ["--documented-reasons"], ["--no-explain"], ["--urgent-background"], ["--strict-push-type"],
      ["--suffix-mismatch", "InvalidPushType"], ["--memory", "64M"], ["--proxy-port", "off"],
      ["--proxy-tunnel", "example.com"], ["--on-delivery", "cat"],
    ])
  func everyFlag(words: [String]) throws {
    let options = ServeOptions(try Self.settings(["serve"] + words))
    #expect(String(reflecting: options) != String(reflecting: ServeOptions()))
  }

  @Test(
    "every flag of the bridge changes the options",
    arguments: [
      ["--key", "k"], ["--key-id", "K"], ["--team", "T"], ["--forward-ca", "c"], ["--forward-name", "n"],
      ["--forward-proxy", "http://h:1"], ["--forward-window", "2"], ["--forward-queue", "7"],
    ])
  func everyForwardFlag(words: [String]) throws {
    let bridge = ["serve", "--forward", "api.push.apple.com:443"]
    let plain = try Self.settings(bridge)
    let told = try Self.settings(bridge + words)
    #expect(ServeOptions(plain).forward?.target.description == "api.push.apple.com:443")
    #expect(String(reflecting: ServeOptions(told)) != String(reflecting: ServeOptions(plain)))
  }

  @Test("a node has its NATS server, its host's name and what the cluster has, unless told otherwise")
  func cluster() throws {
    let plain = try #require(Self.options("--nats", "nats://a:b@h,tls://h:2").cluster)
    #expect(plain.natsServers.map(\.description) == ["nats://h:4222", "tls://h:2"])
    #expect(plain.node == ClusterOptions.defaultNode)
    #expect(plain.zones == nil && plain.nodePort == 0 && plain.replicas == 1)
    let told = try #require(
      Self.options(
        "--nats", "nats://h", "--node", "n-1", "--zones", "64", "--node-port", "7", "--nats-creds", "c",
        "--nats-ca", "ca", "--nats-replicas", "3", "--cluster-secret", "s", "--cluster", "blue"
      ).cluster)
    var expected = ClusterOptions(
      natsServers: [NATSAddress(SocketAddress(host: "h", port: 4222))], node: "n-1")
    (expected.zones, expected.nodePort, expected.replicas) = (ZoneMap.usual, 7, 3)
    expected.names = ClusterNames("blue")
    (expected.credentials, expected.ca, expected.secret) = ("c", "ca", "s")
    #expect(told == expected)
  }

  @Test(
    "what is no NATS server, no name and no number of zones is refused, and no password is shown",
    arguments: [
      ["--nats", "localhost:4222"], ["--nats", "nats://h,"], ["--nats", "nats://u:s3cr3t@h/x"],
      ["--nats", "nats://h", "--node", "a b"], ["--nats", "nats://h", "--zones", "0"],
      ["--nats", "nats://h", "--cluster", "a.b"], ["--nats", "nats://h", "--cluster", ""],
      ["--nats", "nats://h", "--zones", "1025"], ["--nats", "nats://h", "--node-port", "65536"],
      ["--nats", "nats://h", "--nats-replicas", "6"],
    ])
  func noCluster(words: [String]) throws {
    let error = #expect(throws: UsageError.self) { try Self.settings(["serve"] + words) }
    #expect(!"\(try #require(error))".contains("s3cr3t"))
  }

  @Test(
    "flags that make no sense together are refused",
    arguments: [
      (
        ["--forward", "h:1", "--nats", "nats://h"],
        "--forward can't be combined with --nats: run the bridge as an emulator of its own"
      ),
      (["--node", "n"], "--node needs --nats URL, the NATS servers of the cluster"),
      (["--zones", "64"], "--zones needs --nats URL, the NATS servers of the cluster"),
      (["--nats-ca", "f"], "--nats-ca needs --nats URL, the NATS servers of the cluster"),
      (["--nats", "nats://h", "--zones", "8"], nil), ([], nil),
    ] as [([String], String?)])
  func together(words: [String], sentence: String?) throws {
    let settings = try Self.settings(["serve"] + words)
    var found: String?
    do { try ServeOptions.check(settings, command: "serve") } catch let error as UsageError {
      found = error.message
    }
    #expect(found == sentence)
  }

  @Test("a capture rotates at a size and keeps so many files")
  func capture() throws {
    let options = try Self.options("--capture", "f", "--capture-rotate", "2G", "--capture-keep", "3")
    var expected = CaptureOptions(path: "f")
    (expected.rotatesAt, expected.kept) = (2 << 30, 3)
    #expect(options.capture == expected)
  }

  @Test("exec takes free ports, keeps nothing and is quiet, unless told otherwise")
  func exec() throws {
    let plain = ExecCommand.options(try Self.settings(["exec", "--", "true"]))
    #expect([plain.listeners.gateway, plain.listeners.console] == [.number(0), .number(0)])
    #expect(plain.files.isEphemeral)
    #expect(plain.log.level == .warning)
    let told = ExecCommand.options(
      try Self.settings([
        "exec", "--gateway-port", "2195", "--data", "d", "--log-level", "info", "--", "true",
      ]))
    #expect(told.listeners.gateway == .number(2195))
    #expect(told.listeners.console == .number(0))
    #expect(!told.files.isEphemeral)
    #expect(told.log.level == .info)
  }
}
