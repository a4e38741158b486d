import Basics

/// Header fields as one piece of memory, for remembering them cheaply: two lengths of 16 bits, name, value, and so on.
/// The value of `authorization` is never among them (`Sources/ARCHITECTURE.md#promises` 6); its name keeps its place.
public enum FieldBlock {
  /// Before each field: the lengths of name and value, in bytes.
  private static let headSize = 4

  // MARK: One field

  /// Adds a field to a block, which must stay below what 16 bits can count.
  @inline(__always)
  static func append(_ name: Span<UInt8>, _ value: Span<UInt8>, to block: inout [UInt8]) {
    block.append(addingCapacity: headSize + name.count + value.count) { output in
      output.append(native: UInt16(truncatingIfNeeded: name.count))
      output.append(native: UInt16(truncatingIfNeeded: value.count))
      output.append(name)
      output.append(value)
    }
  }

  /// Where name and value lie of the field that begins at `offset`; nil where no whole field does.
  @inline(__always)
  static func field(in block: Span<UInt8>, at offset: Int) -> (name: Range<Int>, value: Range<Int>)? {
    let start = offset + headSize
    guard start <= block.count else { return nil }
    let nameEnd = start + Int(block.native(UInt16.self, at: offset))
    let end = nameEnd + Int(block.native(UInt16.self, at: offset + 2))
    return end <= block.count ? (start..<nameEnd, nameEnd..<end) : nil
  }

  // MARK: All fields

  /// Puts the fields of `message` into `block`, in place of what is there. They lie in the message as they are wanted, so all but the
  /// secrets is copied in one piece before them and one behind.
  public static func write(_ message: HTTPMessage, to block: inout [UInt8]) {
    let fields = message.fieldBytes
    block.removeAll(keepingCapacity: true)
    var copied = 0
    var secret = message.offset(of: .authorization)
    while let offset = secret, let (name, value) = field(in: fields, at: offset) {
      block.append(fields.extracting(copied..<value.lowerBound))
      let head = block.count - name.count - headSize
      (block[head + 2], block[head + 3]) = (0, 0)
      copied = value.upperBound
      let isRepeated = message.repeated.contains(ProviderFieldSet(.authorization))
      secret = isRepeated ? nextSecret(fields, copied) : nil
    }
    block.append(fields.dropping(copied))
  }

  /// Where the next field begins that must not be remembered, from one field on.
  private static func nextSecret(_ block: Span<UInt8>, _ start: Int) -> Int? {
    var offset = start
    while let (name, value) = field(in: block, at: offset) {
      if isSecret(block.extracting(name)) { return offset }
      offset = value.upperBound
    }
    return nil
  }

  /// The fields of a block without `authorization`, unless that is asked for; what does not make a whole field is left out.
  public static func read(_ block: Span<UInt8>, withSecrets: Bool = false) -> [(name: String, value: String)]
  {
    var fields: [(name: String, value: String)] = []
    forEach(in: block) { name, value in
      if withSecrets || !isSecret(name) { fields.append((name.text, value.text)) }
    }
    return fields
  }

  /// Lends each field of a block; `authorization` comes without its value.
  public static func forEach(
    in block: Span<UInt8>, _ body: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Void
  ) {
    var position = 0
    while let (name, value) = field(in: block, at: position) {
      body(block.extracting(name), block.extracting(value))
      position = value.upperBound
    }
  }

  /// The value of the first field of that name; empty if there is none.
  @_lifetime(copy block)
  public static func value(of name: StaticString, in block: Span<UInt8>) -> Span<UInt8> {
    var position = 0
    while let (candidate, value) = field(in: block, at: position) {
      if block.extracting(candidate).spells(name) { return block.extracting(value) }
      position = value.upperBound
    }
    return .none
  }

  private static func isSecret(_ name: Span<UInt8>) -> Bool { name.spells("authorization") }
}
