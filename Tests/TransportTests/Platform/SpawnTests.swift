import Testing

import CLibrary
import Platform

@Suite("What a program that is started inherits")
struct SpawnTests {
  @Test("variables are handed on byte for byte, but for those that are set anew")
  func variables() {
    let latin = Array("NAME=caf".utf8CString.dropLast()) + [CChar(bitPattern: 0xe9), 0]
    let inherited = [latin, Array("SET=old".utf8CString), Array("SETTER=1".utf8CString)]
    var environment = inherited.map { strdup($0) } + [nil]
    defer { for entry in environment { free(entry) } }
    let kept = environment.withUnsafeMutableBufferPointer { entries in
      entries.baseAddress.map { Spawn.entries(of: $0, without: ["SET="]) } ?? []
    }
    #expect(kept == [environment[0], environment[2]])
    let first = kept.first.flatMap { $0 }
    #expect(first.map { strcmp($0, latin) } == 0)
  }
}
