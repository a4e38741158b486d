// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "aliases",
  platforms: [.macOS(.v14)],
  // Yours has `.package(url: "…/apns-emulator", branch: "main")`, as long as there is no release.
  dependencies: [.package(name: "apns-emulator", path: "../..")],
  targets: [
    .target(name: "Aliases"),
    .testTarget(
      name: "AliasesTests",
      dependencies: ["Aliases", .product(name: "APNSEmulatorTesting", package: "apns-emulator")]),
  ]
)
