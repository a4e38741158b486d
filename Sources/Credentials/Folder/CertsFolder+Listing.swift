import PushModel

extension CertsFolder {
  /// A push certificate that lies in the folder, by the name of its file.
  public struct ListedPushCertificate: Equatable, Sendable {
    public var topic: Topic
    /// Further topics that it lists, without those that follow from a single one
    /// (`Documentation/provider-api.md#topics-extension`).
    public var moreTopics: [Topic]
    public var environments: EnvironmentSet
    /// It lists no topics, not even those that follow from the one.
    public var isSingle: Bool
  }

  /// What was issued for providers with certificates. Files that are none are passed over.
  public func pushCertificates() -> [ListedPushCertificate] {
    FileSystem.names(in: pushFolder, suffix: ".pem").compactMap { name in
      guard let topic = Topic(String(name.dropLast(4))),
        let pem = try? FileSystem.read(pushFolder + "/" + name),
        let leaf = Certificate.all(pem: pem).first, let parsed = PushCertificate(leaf, der: leaf.der)
      else { return nil }
      let implied = Set(PushTopic.listed(for: [topic], isUniversal: true).map(\.name))
      let names = parsed.topics.map(\.name).filter { $0 != topic }
      return ListedPushCertificate(
        topic: topic, moreTopics: implied.isSuperset(of: names) ? [] : names,
        environments: parsed.environments,
        isSingle: leaf.extensionValue(CertificateExtension.topicsIdentifier) == nil)
    }
  }

  /// What the folder says about its token keys; the keys themselves are not read.
  public func tokenKeys() -> [ProviderKeyRecord] {
    FileSystem.names(in: keysFolder, suffix: ".json").compactMap { name in
      (try? FileSystem.read(keysFolder + "/" + name)).flatMap { ProviderKeyRecord(json: $0) }
    }
  }
}
