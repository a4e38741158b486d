// swift-tools-version: 6.0
import PackageDescription

/// A package of somebody else that depends on a version of this one. `run` says where that is.
let emulator = Context.environment["APNS_EMULATOR_URL"] ?? "file:///where/apns-emulator/is"

let package = Package(
  name: "shop",
  platforms: [.macOS(.v14)],
  dependencies: [.package(url: emulator, from: "1.0.0")],
  targets: [
    .target(name: "Shop"),
    .testTarget(
      name: "ShopTests",
      dependencies: ["Shop", .product(name: "APNSEmulatorTesting", package: "apns-emulator")]),
    // Those of Examples/Swift, which `run` copies here.
    .target(name: "Aliases"),
    .testTarget(
      name: "AliasesTests",
      dependencies: ["Aliases", .product(name: "APNSEmulatorTesting", package: "apns-emulator")]),
  ]
)
