/// Why a peer's message can't be taken: the status to answer and a sentence for it.
public struct HTTPParseFailure: Error, Equatable, CustomStringConvertible, Sendable {
  public var status: Int
  public var sentence: String

  init(_ status: Int, _ sentence: String) { (self.status, self.sentence) = (status, sentence) }

  public var description: String { sentence }

  public static func == (left: HTTPParseFailure, right: HTTPParseFailure) -> Bool {
    left.status == right.status
  }
}
