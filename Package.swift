// swift-tools-version: 6.2
import PackageDescription

/// For all that is below `Sources`. A value that is lent says of whom, so that the compiler keeps it from living longer; and each use of what
/// the compiler can't prove safe is marked `unsafe`: `.ci/unsafe` counts the marks.
let safe: [SwiftSetting] = [.enableExperimentalFeature("Lifetimes"), .strictMemorySafety()]

/// Modules of values on the path of a push, whose functions are to become part of who calls them (wire decoder → broker → store). A module of
/// objects is built without: whoever may look into it may touch what they hold, so each access to that would be checked at run time
/// (`Sources/Broker/README.md#what-speed-asks-for`). Packages that depend on a version of this one may have such flags from tools version 6.2
/// on; before, SwiftPM refused them there.
let inlined: [SwiftSetting] = [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

/// For the module in which all others spend their time, in builds that are made once (`.ci/testing`). With the optimizer the tests take a
/// sixth less processor time, but a change takes longer to build. What a debug build checks stays checked.
let common: [SwiftSetting] =
  (Context.environment["BUILDS_ONCE"] ?? "").isEmpty
  ? [] : [.unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))]

/// For what no push passes through: it is smaller, and built in less time.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// For what goes on at the pace of a person: commands, scenarios, drills, what a phone makes of a push. Only LLVM's optimizer runs, not Swift's
/// own, which takes most of a module's time: it is built in a third of that, and its code is smaller. A first start waits for the build.
let plain: [SwiftSetting] = [
  .unsafeFlags(["-Osize", "-Xfrontend", "-disable-sil-perf-optzns"], .when(configuration: .release))
]

/// A C library as Debian and Homebrew package it: a module map, a shim, nothing else.
func system(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

/// Modules whose folder has a page on how they work.
let documented: Set = [
  "AdviceFeed", "Bridge", "Broker", "Cluster", "ClusterRouter", "Console", "DeviceDriver", "Emulator", "Node",
  "Recorder", "Transport", "WaysIn",
]

func library(
  _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, exclude: documented.contains(name) ? ["README.md"] : [],
    swiftSettings: settings)
}

/// The tests of some modules alone, by the names of these, as `APNS_EMULATOR_TESTS=Broker,Storage`: what they do not need is not built.
let chosenTests = Context.environment["APNS_EMULATOR_TESTS"]

/// All tests of these open sockets. `make check` runs none that does, so it does not build them, by `APNS_EMULATOR_NO_LIVE_TESTS=1`.
let liveTests: Set = ["APNSEmulatorTestingTests", "EmulatorTests"]

/// Nobody imports these, so that a module of its own for each is a seventh of their build. As a whole they have none, which is slower
/// only for who changes them again and again, one file at a time.
let whole: [SwiftSetting] =
  chosenTests == nil
  ? [
    .unsafeFlags([
      "-disable-batch-mode", "-whole-module-optimization", "-no-emit-module-separately-wmo", "-num-threads",
      "1",
    ])
  ] : []

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name + "Tests", dependencies: dependencies, swiftSettings: whole)
}

let package = Package(
  name: "apns-emulator",
  platforms: [.macOS(.v14)],
  products: [
    .executable(name: "apns-emulator", targets: ["apns-emulator"]),
    .executable(name: "apns-emulator-bench", targets: ["apns-emulator-bench"]),
    .library(name: "APNSEmulatorTesting", targets: ["APNSEmulatorTesting"]),
  ],
  targets: [
    system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
    system("CNghttp2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
    system("CLibevent", pkgConfig: "libevent", apt: "libevent-dev", brew: "libevent"),
    system("CExpat", pkgConfig: "expat", apt: "libexpat1-dev", brew: "expat"),
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
    .target(name: "CArguments"),

    .target(
      name: "Basics", dependencies: ["COpenSSL"], swiftSettings: inlined + common,
      // Rounding; elsewhere it comes with Foundation, which not all tests have.
      linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
    library("CLibrary"),
    library("Platform", ["Basics", "CArguments", "CLibrary"], inlined),
    library("PushModel", ["Basics"], inlined),
    library("LegacyWire", ["Basics", "PushModel"], inlined),
    library("PropertyList", ["Basics", "CExpat"], small),
    library("CourierWire", ["Basics", "PropertyList", "PushModel"], inlined),
    library("Broker", ["Basics", "PushModel"]),
    library("Credentials", ["Basics", "COpenSSL", "Platform", "PushModel"]),
    library("ProviderAPI", ["Basics", "PushModel"]),
    library("Capture", ["Basics", "LegacyWire", "PushModel"], inlined),
    library("Storage", ["Basics", "Broker", "CSQLite", "Platform", "PushModel"]),
    library("Transport", ["Basics", "CLibevent", "CNghttp2", "COpenSSL", "Platform", "PushModel"]),
    library("NATSWire", ["Basics"], inlined),
    library("Zones", ["Basics", "NATSWire", "PushModel"], inlined),
    library(
      "Cluster",
      ["Basics", "Broker", "Credentials", "NATSWire", "Platform", "PushModel", "Transport", "Zones"]),
    library("Services", ["Basics", "Broker", "Faults", "Platform", "PushModel", "Transport"]),
    library(
      "Bridge",
      ["Basics", "Broker", "Credentials", "Platform", "ProviderAPI", "PushModel", "Services", "Transport"]),
    library(
      "Recorder",
      ["Basics", "Broker", "Capture", "Credentials", "LegacyWire", "Platform", "PushModel", "Services"]),
    library("Hooks", ["Basics", "Broker", "Platform", "Services", "Transport"]),
    library(
      "WaysIn",
      [
        "Basics", "Broker", "Console", "ConsoleAnswers", "Faults", "Platform", "ProviderAPI", "PushModel",
        "Services",
        "Transport",
      ]),
    library("Faults", ["Basics", "PushModel"]),
    library("Advice", ["Basics", "PushModel"], inlined),
    library("Phone", ["Basics", "PushModel"], plain),
    library("Replay", ["Basics", "Capture", "LegacyWire", "Platform", "PushModel", "Transport"], small),
    .target(name: "Dashboard", exclude: ["Web", "biome.json", "package.json"]),
    library("ConsoleAnswers", ["Basics", "Transport"], small),
    library(
      "Console",
      [
        "Advice", "Basics", "Broker", "ConsoleAnswers", "Dashboard", "Faults", "Phone", "Phones", "PushModel",
        "Services",
        "Transport",
      ], small),
    library("Phones", ["Basics", "Broker", "Phone", "PushModel"], small),
    library(
      "ClusterRouter",
      ["Advice", "Basics", "Broker", "Console", "ConsoleAnswers", "PushModel", "Services", "Transport"], small
    ),
    library(
      "AdviceFeed",
      ["Advice", "Basics", "Broker", "Console", "Phone", "Platform", "PushModel", "Services"]),
    library(
      "SavedState", ["Basics", "Broker", "Console", "ConsoleAnswers", "Faults", "PushModel", "Transport"],
      small),
    library("SimulatedDevice", ["Basics", "CourierWire", "PushModel"], inlined),
    library(
      "DeviceDriver",
      [
        "Basics", "CourierWire", "Credentials", "Phone", "Platform", "PushModel", "SimulatedDevice",
        "Transport",
      ]),
    library("SimulatedProvider", ["Basics", "LegacyWire", "PushModel"], inlined),
    library(
      "Scenario",
      [
        "Advice", "Basics", "Broker", "Credentials", "DeviceDriver", "Emulator", "Faults", "LegacyWire",
        "Phone",
        "Platform", "PushModel", "SimulatedDevice", "SimulatedProvider", "Transport",
      ], plain),
    library(
      "Drill",
      [
        "Advice", "Basics", "Broker", "Console", "ConsoleAnswers", "Credentials", "DeviceDriver", "Emulator",
        "Faults",
        "Platform", "PushModel", "Recorder", "SimulatedDevice", "Transport",
      ], plain),
    library(
      "Node",
      [
        "Basics", "Broker", "Cluster", "ClusterRouter", "Console", "CourierWire", "Platform", "PushModel",
        "Services", "Transport", "Zones",
      ]),
    library(
      "Courier",
      [
        "Basics", "Broker", "Cluster", "CourierWire", "Credentials", "Node", "Phones", "Platform",
        "PushModel", "Services", "Transport",
      ]),
    library(
      "Emulator",
      [
        "Advice", "AdviceFeed", "Basics", "Bridge", "Broker", "Cluster", "ClusterRouter", "Console",
        "Courier", "CourierWire", "Credentials", "Dashboard", "Faults", "Hooks", "LegacyWire", "Node",
        "Phones", "Platform", "ProviderAPI", "PushModel", "Recorder", "SavedState", "Services", "Storage",
        "Transport", "WaysIn",
      ]),
    library(
      "Benchmark",
      [
        "Basics", "Broker", "CourierWire", "Credentials", "Emulator", "LegacyWire", "Platform", "PushModel",
        "Services", "Storage", "Transport", "Zones",
      ]),
    library(
      "Commands",
      [
        "Advice", "Basics", "Bridge", "Broker", "Capture", "Cluster", "CourierWire", "Credentials",
        "DeviceDriver",
        "Drill", "Emulator", "Hooks", "LegacyWire", "Phone", "Platform", "ProviderAPI", "PushModel",
        "Recorder", "Replay", "SavedState", "Scenario", "Services", "SimulatedDevice", "SimulatedProvider",
        "Transport", "Zones",
      ], plain),
    library(
      "APNSEmulatorTesting",
      [
        "Advice", "Basics", "Bridge", "Broker", "Console", "Credentials", "DeviceDriver", "Emulator",
        "Faults", "Hooks",
        "Platform", "PushModel", "Recorder", "Services", "SimulatedDevice", "Transport",
      ]),
    .executableTarget(name: "apns-emulator", dependencies: ["Commands", "Platform"]),
    .executableTarget(
      name: "apns-emulator-bench", dependencies: ["Basics", "Benchmark", "Commands", "Platform"]),

    .target(
      name: "TestSupport", dependencies: ["Broker", "COpenSSL", "Credentials", "Basics", "PushModel"],
      path: "Tests/TestSupport"),
    tests(
      "APNSEmulatorTesting",
      [
        "APNSEmulatorTesting", "Basics", "Broker", "Emulator", "LegacyWire", "Platform", "PushModel",
        "SimulatedDevice", "Storage", "Transport",
      ]),
    tests("Benchmark", ["Basics", "Benchmark", "Platform"]),
    tests("LegacyWire", ["Basics", "LegacyWire", "PushModel"]),
    tests("Basics", ["Basics", "PushModel"]),
    tests("PushModel", ["PushModel"]),
    tests("PropertyList", ["PropertyList"]),
    tests("Capture", ["Basics", "Capture", "LegacyWire", "PushModel", "TestSupport"]),
    tests("Broker", ["Basics", "Broker", "PushModel", "TestSupport"]),
    tests(
      "Storage",
      ["Basics", "Broker", "CLibrary", "CSQLite", "Platform", "PushModel", "Storage", "TestSupport"]),
    tests("Credentials", ["Basics", "COpenSSL", "Credentials", "Platform", "PushModel", "TestSupport"]),
    tests("Faults", ["Basics", "Faults", "PushModel"]),
    tests("Advice", ["Advice", "Basics", "PushModel"]),
    tests("Drill", ["Advice", "Basics", "Console", "ConsoleAnswers", "Drill", "Faults", "PushModel"]),
    tests("Phone", ["Basics", "Phone", "PushModel"]),
    tests(
      "Scenario",
      [
        "APNSEmulatorTesting", "Basics", "Broker", "Commands", "Console", "Credentials", "DeviceDriver",
        "Emulator", "Phone", "Platform", "PushModel", "Scenario", "SimulatedDevice",
      ]),
    tests("ConsoleAnswers", ["Basics", "ConsoleAnswers", "TestSupport"]),
    tests(
      "Console",
      [
        "Advice", "Basics", "Broker", "Console", "ConsoleAnswers", "Dashboard", "Faults", "Phone", "Phones",
        "PushModel",
        "SavedState",
        "Services", "TestSupport", "Transport", "WaysIn",
      ]),
    tests(
      "ClusterRouter",
      [
        "Basics", "Broker", "ClusterRouter", "Console", "ConsoleAnswers", "PushModel", "TestSupport",
        "Transport",
      ]),
    tests("HTTP1", ["Basics", "CLibrary", "Platform", "Transport"]),
    tests("CourierWire", ["Basics", "CourierWire", "PushModel"]),
    tests(
      "DeviceDriver", ["Basics", "CourierWire", "DeviceDriver", "Phone", "PushModel", "SimulatedDevice"]),
    tests("SimulatedDevice", ["Basics", "CourierWire", "PushModel", "SimulatedDevice"]),
    tests("HTTP2", ["Basics", "PushModel", "Transport"]),
    tests("ProviderAPI", ["Basics", "ProviderAPI", "PushModel"]),
    tests(
      "Commands",
      [
        "Advice", "Basics", "Cluster", "Commands", "Credentials", "DeviceDriver", "Emulator", "Phone",
        "Platform", "PushModel", "Recorder", "Services", "SimulatedDevice", "TestSupport", "Transport",
        "Zones",
      ]),
    tests("Services", ["Basics", "Platform", "Services", "TestSupport"]),
    tests("Bridge", ["Basics", "Bridge", "Broker", "PushModel", "TestSupport"]),
    tests(
      "Recorder",
      [
        "Basics", "Broker", "Capture", "LegacyWire", "Platform", "PushModel", "Recorder", "Services",
        "TestSupport",
      ]),
    tests(
      "Replay", ["Basics", "Credentials", "LegacyWire", "Platform", "Replay", "TestSupport", "Transport"]),
    tests("Hooks", ["Basics", "Hooks"]),
    tests("WaysIn", ["Basics", "Platform", "PushModel", "Transport", "WaysIn"]),
    tests("NATSWire", ["Basics", "NATSWire"]),
    tests("Zones", ["Basics", "NATSWire", "PushModel", "Zones"]),
    tests(
      "Cluster",
      [
        "Basics", "Broker", "Cluster", "Credentials", "NATSWire", "Platform", "PushModel", "TestSupport",
        "Transport", "Zones",
      ]),
    tests("SimulatedProvider", ["Basics", "LegacyWire", "PushModel", "SimulatedProvider"]),
    tests("Transport", ["Basics", "CLibrary", "Credentials", "Platform", "TestSupport", "Transport"]),
    tests(
      "Emulator",
      [
        "Advice", "AdviceFeed", "Basics", "Broker", "CLibrary", "COpenSSL", "Cluster", "Console",
        "ConsoleAnswers", "Courier",
        "CourierWire", "Credentials", "Emulator", "Faults", "Hooks", "LegacyWire", "Node", "Platform",
        "ProviderAPI", "PushModel", "Recorder", "Services", "Storage", "TestSupport", "Transport", "Zones",
      ]),
    tests(
      "EmulatorUnit",
      [
        "Basics", "Broker", "CLibrary", "CourierWire", "Credentials", "Emulator", "LegacyWire", "Node",
        "Platform",
        "PushModel", "Services", "TestSupport", "Transport",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets
where target.path == nil && (target.type == .regular || target.type == .executable) {
  target.swiftSettings = safe + (target.swiftSettings ?? [])
}

if let chosenTests {
  let names = Set(chosenTests.split(separator: ",").flatMap { ["\($0)Tests", "\($0)UnitTests"] })
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
} else if Context.environment["APNS_EMULATOR_NO_LIVE_TESTS"] != nil {
  package.targets.removeAll { liveTests.contains($0.name) }
}

// Built by `make fuzz` alone: it has no main function but libFuzzer's.
if Context.environment["APNS_EMULATOR_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "Basics", "Broker", "CLibrary", "Capture", "Commands", "Console", "CourierWire", "Credentials",
        "Faults", "LegacyWire", "Phone", "Platform", "ProviderAPI", "PushModel", "SavedState",
        "SimulatedDevice", "Storage",
        "Transport",
      ],
      path: "Tests/Fuzz", exclude: ["README.md", "Seeds"]))
}
