import Basics

/// Short words for looking into answers.
extension JSONValue {
  subscript(name: String) -> JSONValue { member(name) ?? .null }
  var string: String? { if case .string(let text) = self { text } else { nil } }
  var elements: [JSONValue] { if case .array(let values) = self { values } else { [] } }
}
