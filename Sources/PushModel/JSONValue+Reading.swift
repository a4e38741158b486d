/// Looking into what `JSONReader` has read. Of members with the same name the last counts.
extension JSONValue {
  /// The member of an object; nil if this is none or it has no such member.
  public func member(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.0 == name }?.1
  }

  /// A member that is a string.
  public func string(_ name: String) -> String? {
    guard case .string(let text)? = member(name) else { return nil }
    return text
  }

  /// A member that is a number of seconds since 1970, whole or not; saturates.
  public func timestamp(_ name: String) -> Timestamp? {
    switch member(name) {
    case .integer(let seconds)?: return Timestamp(seconds: seconds)
    case .number(let seconds)?:
      let whole = seconds.rounded(.down)
      guard let exact = Int64(exactly: whole) else {
        return Timestamp(nanoseconds: seconds < 0 ? .min : .max)
      }
      return Timestamp(seconds: exact).adding(nanoseconds: Int64((seconds - whole) * 1e9))
    default: return nil
    }
  }

  /// A member that is an array of strings; nil if it is there but is something else, empty if it is absent.
  public func strings(_ name: String) -> [String]? {
    switch member(name) {
    case nil, .null?: return []
    case .array(let values)?:
      let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
      return texts.count == values.count ? texts : nil
    default: return nil
    }
  }
}
