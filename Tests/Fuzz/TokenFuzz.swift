import Credentials

/// Provider tokens: the compact form with its two JSON parts.
struct TokenFuzz: FuzzTarget {
  func take(_ input: UnsafeRawBufferPointer) {
    _ = ProviderToken.parse(Array(input))
  }
}
