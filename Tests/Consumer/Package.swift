// swift-tools-version: 6.0
import PackageDescription

/// A package of somebody else that depends on a version of this one, or on a folder with it. `run` says where that is.
let url = Context.environment["APNS_EMULATOR_URL"] ?? "file:///where/apns-emulator/is"
let folder = Context.environment["APNS_EMULATOR_FOLDER"]

let package = Package(
  name: "shop",
  platforms: [.macOS(.v14)],
  dependencies: [
    folder.map { .package(name: "apns-emulator", path: $0) } ?? .package(url: url, from: "1.0.0")
  ],
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

// SwiftPM looks for XCTest's tests in the compiler's index, which nothing else has any use for.
if let index = Context.environment["APNS_EMULATOR_INDEX"] {
  for target in package.targets where target.type == .test {
    target.swiftSettings = [.unsafeFlags(["-index-store-path", index], .when(platforms: [.linux]))]
  }
}
