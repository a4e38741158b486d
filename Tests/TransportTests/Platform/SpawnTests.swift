import Testing

import Platform

@Suite("What a program that is started inherits")
struct SpawnTests {
  @Test("variables are handed on byte for byte, but for those that are set anew")
  func variables() {
    let latin = Array("NAME=caf".utf8CString.dropLast()) + [CChar(bitPattern: 0xe9), 0]
    let setter = Array("SETTER=1".utf8CString)
    let kept = Spawn.entries(of: [latin, Array("SET=old".utf8CString), setter], without: ["SET="])
    #expect(kept == [latin, setter])
  }
}
