import Emulator
import Services
import TestSupport
import Testing

@Suite("The data folder")
struct DataFolderTests {
  @Test("one that can't be made or is no folder is a store that can't be used", arguments: ["a/b", "ca.pem"])
  func unusable(name: String) throws {
    let folder = ScratchFolder()
    var options = ServeOptions()
    (options.credentials.certs, options.files.data) = (folder.path, "\(folder.path)/\(name)")
    options.listeners = ListenerOptions(protocols: .off)
    let error = withExtendedLifetime(folder) {
      #expect(throws: EmulatorError.self) { _ = try Emulator(options: options) }
    }
    #expect(error?.status == .storeUnusable)
    #expect(error?.sentence.contains(options.files.data) == true)
  }
}
