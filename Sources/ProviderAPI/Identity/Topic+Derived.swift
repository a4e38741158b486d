import PushModel

extension Topic {
  /// Whether this is one of `bundles` with one of `suffixes` behind it.
  func isDerived(from bundles: Set<Topic>, by suffixes: [String]) -> Bool {
    suffixes.contains { suffix in
      name.hasSuffix(suffix) && Topic(String(name.dropLast(suffix.utf8.count))).map(bundles.contains) ?? false
    }
  }
}
