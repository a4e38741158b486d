import Credentials
import Platform
import PushModel

extension CertsFolder {
  /// Topics that push certificates were issued for: their files are named after them.
  func issuedTopics() -> [Topic] {
    guard let directory = opendir(pushFolder) else { return [] }
    defer { closedir(directory) }
    var topics: [Topic] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.hasSuffix(".pem"), let topic = Topic(String(name.dropLast(4))) else { continue }
      topics.append(topic)
    }
    return topics
  }
}
