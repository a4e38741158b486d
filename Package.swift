// swift-tools-version: 6.2
import PackageDescription

/// Hot paths cross module borders (wire decoder → broker → store), so the optimiser may look through them. Run-time
/// exclusivity checks took 45 % of a frame's time in the broker; debug and test builds keep them. Packages that depend on a
/// version of this one may have such flags from tools version 6.2 on; before, SwiftPM refused them there.
let optimised: [SwiftSetting] = [
  .unsafeFlags(
    ["-cross-module-optimization", "-enforce-exclusivity=unchecked"], .when(configuration: .release))
]

/// For what no push passes through: it is built in less time, and its exclusivity checks stay on.
let small: [SwiftSetting] = [.unsafeFlags(["-Osize"], .when(configuration: .release))]

/// A C library as Debian and Homebrew package it: a module map, a shim, nothing else.
func system(_ name: String, pkgConfig: String, apt: String, brew: String) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func library(
  _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = optimised
) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// The tests of some modules alone, by the names of these, as `APNS_EMULATOR_TESTS=Broker,Storage`: what they do not need is not built.
let chosenTests = Context.environment["APNS_EMULATOR_TESTS"]

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
    .library(name: "APNSEmulatorTesting", targets: ["APNSEmulatorTesting"]),
  ],
  targets: [
    system("COpenSSL", pkgConfig: "openssl", apt: "libssl-dev", brew: "openssl@3"),
    system("CNghttp2", pkgConfig: "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2"),
    system("CLibevent", pkgConfig: "libevent", apt: "libevent-dev", brew: "libevent"),
    system("CExpat", pkgConfig: "expat", apt: "libexpat1-dev", brew: "expat"),
    system("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev", brew: "sqlite"),
    .systemLibrary(name: "CProcessor"),
    .target(name: "CArguments"),

    library("Platform", ["PushModel", "CArguments", "CProcessor"]),
    .target(
      name: "PushModel", dependencies: ["CProcessor"], swiftSettings: optimised,
      // Rounding; elsewhere it comes with Foundation, which not all tests have.
      linkerSettings: [.linkedLibrary("m", .when(platforms: [.linux]))]),
    library("LegacyWire", ["PushModel"]),
    library("CourierWire", ["PushModel", "CExpat"]),
    library("Broker", ["PushModel", "CProcessor"]),
    library("Credentials", ["PushModel", "Platform", "COpenSSL"]),
    library("ProviderAPI", ["PushModel"]),
    library("Capture", ["LegacyWire", "PushModel"]),
    library("Storage", ["Broker", "Platform", "PushModel", "CSQLite"]),
    library("Transport", ["PushModel", "Platform", "COpenSSL", "CNghttp2", "CLibevent"]),
    library("NATSWire", ["PushModel"]),
    library("Zones", ["NATSWire", "PushModel"]),
    library(
      "Cluster",
      ["Broker", "Credentials", "NATSWire", "Platform", "PushModel", "Transport", "Zones"]),
    library("Faults", ["PushModel"]),
    library("Phone", ["PushModel"], small),
    .target(name: "Dashboard", exclude: ["Web", "biome.json", "package.json"]),
    library("Console", ["Broker", "Dashboard", "Faults", "Phone", "PushModel", "Transport"], small),
    library("SimulatedDevice", ["CourierWire", "PushModel"]),
    library(
      "DeviceDriver",
      ["CourierWire", "Credentials", "Phone", "Platform", "PushModel", "SimulatedDevice", "Transport"]),
    library("SimulatedProvider", ["LegacyWire", "PushModel"]),
    library(
      "Scenario",
      [
        "Broker", "Credentials", "DeviceDriver", "Emulator", "Faults", "LegacyWire", "Phone", "Platform",
        "PushModel", "SimulatedDevice", "SimulatedProvider", "Transport",
      ], small),
    library(
      "Emulator",
      [
        "Broker", "Capture", "Cluster", "Console", "CourierWire", "Credentials", "Dashboard", "Faults",
        "LegacyWire", "Platform", "ProviderAPI", "PushModel", "Storage", "Transport", "Zones",
      ]),
    library(
      "Benchmark",
      [
        "Broker", "CourierWire", "Credentials", "Emulator", "LegacyWire", "Platform", "PushModel", "Storage",
        "Transport", "Zones",
      ]),
    library(
      "Commands",
      [
        "Benchmark", "Broker", "Capture", "Cluster", "Console", "CourierWire", "Credentials", "DeviceDriver",
        "Emulator", "LegacyWire", "Phone", "Platform", "ProviderAPI", "PushModel", "Scenario",
        "SimulatedDevice",
        "SimulatedProvider", "Transport", "Zones",
      ], small),
    library(
      "APNSEmulatorTesting",
      [
        "Broker", "Console", "Credentials", "DeviceDriver", "Emulator", "Faults", "Platform", "PushModel",
        "SimulatedDevice", "Transport",
      ]),
    .executableTarget(name: "apns-emulator", dependencies: ["Commands", "Platform"]),

    .target(
      name: "TestSupport", dependencies: ["Broker", "COpenSSL", "Credentials", "PushModel"],
      path: "Tests/TestSupport"),
    tests(
      "APNSEmulatorTesting",
      ["APNSEmulatorTesting", "Broker", "Emulator", "Platform", "PushModel", "SimulatedDevice", "Storage"]),
    tests("Benchmark", ["Benchmark", "Platform", "PushModel"]),
    tests("LegacyWire", ["LegacyWire", "PushModel"]),
    tests("PushModel", ["PushModel"]),
    tests("Capture", ["Capture", "LegacyWire", "PushModel", "TestSupport"]),
    tests("Broker", ["Broker", "PushModel", "TestSupport"]),
    tests("Storage", ["Broker", "CSQLite", "Platform", "PushModel", "Storage", "TestSupport"]),
    tests("Credentials", ["COpenSSL", "Credentials", "PushModel", "TestSupport"]),
    tests("Faults", ["Faults", "PushModel"]),
    tests("Phone", ["Phone", "PushModel"]),
    tests(
      "Scenario",
      [
        "APNSEmulatorTesting", "Broker", "Commands", "Console", "Credentials", "DeviceDriver", "Emulator",
        "Phone", "Platform", "PushModel", "Scenario", "SimulatedDevice",
      ]),
    tests(
      "Console",
      ["Broker", "Console", "Dashboard", "Faults", "Phone", "PushModel", "TestSupport", "Transport"]),
    tests("HTTP1", ["Platform", "PushModel", "Transport"]),
    tests("CourierWire", ["CourierWire", "PushModel"]),
    tests("DeviceDriver", ["CourierWire", "DeviceDriver", "PushModel"]),
    tests("SimulatedDevice", ["CourierWire", "PushModel", "SimulatedDevice"]),
    tests("HTTP2", ["Transport", "PushModel"]),
    tests("ProviderAPI", ["ProviderAPI", "PushModel"]),
    tests(
      "Commands",
      [
        "Cluster", "Commands", "Credentials", "DeviceDriver", "Emulator", "LegacyWire", "Platform",
        "PushModel",
        "SimulatedDevice", "TestSupport", "Transport", "Zones",
      ]),
    tests("NATSWire", ["NATSWire", "PushModel"]),
    tests("Zones", ["NATSWire", "PushModel", "Zones"]),
    tests(
      "Cluster",
      [
        "Broker", "Cluster", "Credentials", "NATSWire", "Platform", "PushModel", "TestSupport", "Transport",
        "Zones",
      ]),
    tests("SimulatedProvider", ["LegacyWire", "PushModel", "SimulatedProvider"]),
    tests("Transport", ["Credentials", "Platform", "PushModel", "TestSupport", "Transport"]),
    tests(
      "Emulator",
      [
        "Broker", "COpenSSL", "Cluster", "Console", "CourierWire", "Credentials", "Emulator", "Faults",
        "LegacyWire", "Platform", "ProviderAPI", "PushModel", "Storage", "TestSupport", "Transport", "Zones",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

if let chosenTests {
  let names = Set(chosenTests.split(separator: ",").map { "\($0)Tests" })
  package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

// Built by `make fuzz` alone: it has no main function but libFuzzer's.
if Context.environment["APNS_EMULATOR_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "Fuzz",
      dependencies: [
        "Broker", "Capture", "Commands", "Console", "CourierWire", "Credentials", "Faults", "LegacyWire",
        "Phone", "Platform", "ProviderAPI", "PushModel", "SimulatedDevice", "Storage", "Transport",
      ],
      path: "Tests/Fuzz", exclude: ["README.md", "Seeds"]))
}
