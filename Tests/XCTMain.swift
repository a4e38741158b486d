import Testing

/// Where the tests begin on Linux. All of them are Swift Testing's, which finds them by itself; with a main function of our own SwiftPM
/// does not look for XCTest's in the compiler's index, and none need be written (a tenth of the build).
@main
struct Main {
  static func main() async {
    await Testing.__swiftPMEntryPoint() as Never
  }
}
