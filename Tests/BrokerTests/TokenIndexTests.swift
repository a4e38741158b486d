import PushModel
import Testing

import Broker

@Suite("The index of tokens")
struct TokenIndexTests {
  /// The index alone, with its tokens in a list beside it.
  private final class Book {
    var index = TokenIndex(capacity: 16)
    var tokens: [DeviceToken] = []

    func add(_ words: (UInt64, UInt64, UInt64, UInt64)) {
      var token = DeviceToken(bytes: [UInt8](repeating: 0, count: 32)).unsafelyUnwrapped
      token.words = words
      tokens.append(token)
      if index.isFull {
        let full = exchange(&index, with: TokenIndex(capacity: 1))
        index = full.grown { tokens[$0.index] }
      }
      index.insert(token, RegistrationID(tokens.count - 1))
    }

    func find(_ token: DeviceToken) -> Int? {
      index.find(token) { tokens[$0.index] == token }?.index
    }
  }

  @Test("tokens that begin alike are told apart, also after growing")
  func collisions() {
    let book = Book()
    for number: UInt64 in 0..<200 {
      // The same first word: all want one slot. The tag is alike in pairs.
      book.add((7, (number / 2) << 32, number, 0))
      for (expected, token) in book.tokens.enumerated() where book.find(token) != expected {
        Issue.record("token \(expected) of \(book.tokens.count)")
      }
    }
  }

  @Test("what looks like an empty entry is none")
  func allOnes() {
    let book = Book()
    book.add((.max, .max, .max, .max))
    book.add((.max, .max, .max, 0))
    #expect(book.tokens.map { book.find($0) } == [0, 1])
  }
}
