import Emulator
import Runtime
import TestSupport
import Testing

@Suite("The data folder")
struct DataFolderTests {
  @Test("one that can't be made or is no folder is a store that can't be used", arguments: ["a/b", "ca.pem"])
  func unusable(name: String) throws {
    let folder = ScratchFolder()
    var options = EmulatorOptions()
    (options.certs, options.data) = (folder.path, "\(folder.path)/\(name)")
    options.gatewayPort = .off
    options.feedbackPort = .off
    options.providerPort = .off
    options.courierPort = .off
    (options.consolePort, options.proxyPort) = (.off, .off)
    let error = withExtendedLifetime(folder) {
      #expect(throws: EmulatorError.self) { _ = try Emulator(options: options) }
    }
    #expect(error?.status == .storeUnusable)
    #expect(error?.sentence.contains(options.data) == true)
  }
}
