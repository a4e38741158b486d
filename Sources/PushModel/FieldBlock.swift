/// Header fields as one piece of memory, for remembering them cheaply: two lengths of 16 bits, name, value, and so on.
/// The value of `authorization` is never among them (`Sources/ARCHITECTURE.md#promises` 6); its name keeps its place.
public enum FieldBlock {
  /// Largest block, in bytes: a full header list, whose fields count 32 bytes each where this needs four.
  public static let byteLimit = HTTPMessage.fieldListLimit

  /// Writes the fields of `message` to `output`, which must have room for `byteLimit`; answers how many bytes there are.
  public static func write(_ message: HTTPMessage, to output: UnsafeMutableRawPointer) -> Int {
    var end = output
    for entry in message.entries {
      let name = message.name(of: entry)
      let valueCount = isSecret(name) ? 0 : entry.valueCount
      end.storeBytes(of: UInt16(truncatingIfNeeded: entry.nameCount), as: UInt16.self)
      end.storeBytes(of: UInt16(truncatingIfNeeded: valueCount), toByteOffset: 2, as: UInt16.self)
      // The value follows its name in the message's memory too.
      let size = Int(entry.nameCount) + Int(valueCount)
      if let source = name.baseAddress { (end + 4).copyMemory(from: source, byteCount: size) }
      end += 4 + size
    }
    return end - output
  }

  /// The fields of a block without `authorization`; what does not make a whole field is left out.
  public static func read(_ block: UnsafeRawBufferPointer) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    forEach(in: block) { name, value in
      guard !isSecret(name) else { return }
      fields.append((String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
    return fields
  }

  /// Lends each field of a block; `authorization` comes without its value.
  public static func forEach(
    in block: UnsafeRawBufferPointer,
    _ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Void
  ) {
    var position = 0
    while position + 4 <= block.count {
      let nameCount = Int(block.loadUnaligned(fromByteOffset: position, as: UInt16.self))
      let valueCount = Int(block.loadUnaligned(fromByteOffset: position + 2, as: UInt16.self))
      let (nameStart, valueStart) = (position + 4, position + 4 + nameCount)
      guard valueStart + valueCount <= block.count else { break }
      body(
        UnsafeRawBufferPointer(rebasing: block[nameStart..<valueStart]),
        UnsafeRawBufferPointer(rebasing: block[valueStart..<valueStart + valueCount]))
      position = valueStart + valueCount
    }
  }

  /// The value of the first field of that name; empty if there is none.
  public static func value(of name: StaticString, in block: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer
  {
    var found: UnsafeRawBufferPointer?
    forEach(in: block) { candidate, value in
      if found == nil, candidate.spells(name) { found = value }
    }
    return found ?? UnsafeRawBufferPointer(start: nil, count: 0)
  }

  private static func isSecret(_ name: UnsafeRawBufferPointer) -> Bool {
    name.spells("authorization")
  }
}
