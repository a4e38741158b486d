import Credentials
import Platform
import PushModel

/// Topics that push certificates were issued for, read once for each change of their folder: who asks often what the emulator is
/// must not have it read each time.
final class IssuedTopics {
  private let folder: CertsFolder
  private var watch: FolderWatch
  private var topics: [Topic] = []

  init(_ folder: CertsFolder) { (self.folder, watch) = (folder, FolderWatch(folder.pushFolder)) }

  /// In the order of their names.
  func all() -> [Topic] {
    guard watch.hasChanged else { return topics }
    watch.willRead()
    topics = folder.issuedTopics().sorted { $0.name < $1.name }
    return topics
  }
}

extension CertsFolder {
  /// Topics that push certificates were issued for: their files are named after them.
  func issuedTopics() -> [Topic] {
    FolderNames.read(pushFolder, where: { $0.hasSuffix(".pem") }).compactMap { Topic(String($0.dropLast(4))) }
  }
}
