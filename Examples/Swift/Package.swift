// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "aliases",
  platforms: [.macOS(.v14)],
  // Yours has `.package(url: "…/apns-emulator", from: "1.0.0")`.
  dependencies: [.package(name: "apns-emulator", path: "../..")],
  targets: [
    .target(name: "Aliases"),
    .testTarget(
      name: "AliasesTests",
      dependencies: ["Aliases", .product(name: "APNSEmulatorTesting", package: "apns-emulator")]),
  ]
)
