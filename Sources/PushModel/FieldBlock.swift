/// Header fields as one piece of memory, for remembering them cheaply: two lengths of 16 bits, name, value, and so on.
/// `authorization` is never among them (`design.md`, promise 6).
public enum FieldBlock {
  /// Replaces `output` with the fields of `message`.
  public static func write(_ message: HTTPMessage, to output: inout [UInt8]) {
    output.removeAll(keepingCapacity: true)
    for entry in message.entries {
      let name = message.name(of: entry)
      guard !isSecret(name) else { continue }
      let value = message.value(of: entry)
      append(UInt16(truncatingIfNeeded: name.count), to: &output)
      append(UInt16(truncatingIfNeeded: value.count), to: &output)
      output.append(contentsOf: name)
      output.append(contentsOf: value)
    }
  }

  /// The fields of a block; what does not make a whole field is left out.
  public static func read(_ block: UnsafeRawBufferPointer) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    var position = 0
    while position + 4 <= block.count {
      let nameCount = Int(block.loadUnaligned(fromByteOffset: position, as: UInt16.self))
      let valueCount = Int(block.loadUnaligned(fromByteOffset: position + 2, as: UInt16.self))
      let (nameStart, valueStart) = (position + 4, position + 4 + nameCount)
      guard valueStart + valueCount <= block.count else { break }
      fields.append(
        (
          String(decoding: block[nameStart..<valueStart], as: UTF8.self),
          String(decoding: block[valueStart..<valueStart + valueCount], as: UTF8.self)
        ))
      position = valueStart + valueCount
    }
    return fields
  }

  private static func isSecret(_ name: UnsafeRawBufferPointer) -> Bool {
    name.count == secretName.utf8CodeUnitCount
      && name.elementsEqual(
        UnsafeRawBufferPointer(start: secretName.utf8Start, count: secretName.utf8CodeUnitCount))
  }

  private static let secretName: StaticString = "authorization"

  private static func append(_ value: UInt16, to output: inout [UInt8]) {
    withUnsafeBytes(of: value) { output.append(contentsOf: $0) }
  }
}
