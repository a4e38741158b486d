import Basics
import Testing

import Credentials

@Suite("Provider token cache")
struct ProviderTokenCacheTests {
  private func token(_ id: String) throws -> VerifiedProviderToken {
    let parsed = try ProviderToken.parse(Array(TestToken.raw.utf8)).get()
    return VerifiedProviderToken(
      parsed, key: ProviderKeyRecord(keyId: id, teamId: "T"), fingerprint: Array(id.utf8))
  }

  private static let capacity = 16
  private typealias Cache = ProviderTokenMemory<VerifiedProviderToken>

  private func find(_ text: String, in cache: inout Cache) -> String? {
    cache.find(Array(text.utf8))?.keyId
  }

  @Test("finds exact bytes only")
  func exact() throws {
    var cache = Cache(generationCapacity: Self.capacity)
    cache.insert(Array("one".utf8), try token("1"))
    #expect(find("one", in: &cache) == "1")
    #expect(find("on", in: &cache) == nil && find("ones", in: &cache) == nil && find("", in: &cache) == nil)
    cache.removeAll { _ in true }
    #expect(find("one", in: &cache) == nil)
  }

  @Test("forgets what is not used and keeps what is")
  func bounded() throws {
    var cache = Cache(generationCapacity: Self.capacity)
    let token = try token("x")
    cache.insert(Array("kept".utf8), token)
    cache.insert(Array("forgotten".utf8), token)
    for number in 0..<(3 * Self.capacity) {
      cache.insert(Array("token \(number)".utf8), token)
      // What was found last is at hand whatever else is remembered.
      #expect(find("token \(number)", in: &cache) == "x")
      #expect(find("kept", in: &cache) == "x")
    }
    #expect(find("forgotten", in: &cache) == nil)
  }

  @Test("remembers twice as many tokens as one generation has, and of one more only half")
  func generations() throws {
    var cache = Cache(generationCapacity: Self.capacity)
    let token = try token("x")
    let names = (0...2 * Self.capacity).map { "token \($0)" }
    for name in names.dropLast() { cache.insert(Array(name.utf8), token) }
    var full = cache
    #expect(find(names[0], in: &full) == "x")
    cache.insert(Array(names[2 * Self.capacity].utf8), token)
    #expect(find(names[Self.capacity - 1], in: &cache) == nil)
    #expect(find(names[Self.capacity], in: &cache) == "x")
  }
}
