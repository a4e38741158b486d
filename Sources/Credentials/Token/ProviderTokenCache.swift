/// Verified tokens: only holders of a key get in.
typealias ProviderTokenCache = ProviderTokenMemory<VerifiedProviderToken>

extension ProviderTokenCache {
  /// Tokens in one generation.
  static var generationCapacity: Int { 1024 }

  init() { self.init(generationCapacity: Self.generationCapacity) }
}
