import CLibrary

/// Permissions of a file, as `open(2)` takes them.
public typealias FileMode = mode_t

extension String {
  /// What a call of the system has written: as far as its end, or all of it.
  init(characters: some Sequence<CChar>) {
    self.init(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// Where a link points to; nil if the path is none.
  init?(linkAt path: String) {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard unsafe readlink(path, &target, target.count - 1) > 0 else { return nil }
    self.init(characters: target)
  }
}
