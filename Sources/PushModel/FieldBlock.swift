/// Header fields as one piece of memory, for remembering them cheaply: two lengths of 16 bits, name, value, and so on.
/// The value of `authorization` is never among them (`Sources/ARCHITECTURE.md#promises` 6); its name keeps its place.
public enum FieldBlock {
  /// Largest block, in bytes: a full header list, whose fields count 32 bytes each where this needs four.
  public static let byteLimit = HTTPMessage.fieldListLimit

  /// Before each field: the lengths of name and value, in bytes.
  static let headSize = 4

  // MARK: One field

  /// Bytes that a field takes.
  @inline(__always)
  static func size(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Int {
    headSize + name.count + value.count
  }

  /// Writes a field, of at most `byteLimit`, to `output`; answers its size.
  @inline(__always)
  static func write(
    _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer
  ) -> Int {
    output.storeBytes(of: UInt16(truncatingIfNeeded: name.count), as: UInt16.self)
    output.storeBytes(of: UInt16(truncatingIfNeeded: value.count), toByteOffset: 2, as: UInt16.self)
    let text = output + headSize
    if let source = name.baseAddress { text.copyMemory(from: source, byteCount: name.count) }
    if let source = value.baseAddress { (text + name.count).copyMemory(from: source, byteCount: value.count) }
    return size(name, value)
  }

  /// The field that begins at `offset`, whose head lies in the block; what it lends must not be read beyond the block's end.
  @inline(__always)
  static func field(
    in block: UnsafeRawBufferPointer, at offset: Int
  ) -> (name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    let nameCount = Int(block.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
    let valueCount = Int(block.loadUnaligned(fromByteOffset: offset + 2, as: UInt16.self))
    let text = block.baseAddress.map { $0 + offset + headSize }
    return (
      UnsafeRawBufferPointer(start: text, count: nameCount),
      UnsafeRawBufferPointer(start: text.map { $0 + nameCount }, count: valueCount)
    )
  }

  // MARK: All fields

  /// Writes the fields of `message` to `output`, which must have room for `byteLimit`; answers how many bytes there are.
  /// They lie in the message as they are wanted, so all but the secrets is copied in one piece before them and one behind.
  public static func write(_ message: HTTPMessage, to output: UnsafeMutableRawPointer) -> Int {
    let block = message.fieldBytes
    var (end, copied) = (output, 0)
    var secret = message.offset(of: .authorization)
    while let offset = secret {
      let (name, value) = field(in: block, at: offset)
      let valueStart = offset + headSize + name.count
      end = copy(block[copied..<valueStart], to: end)
      (end - name.count - 2).storeBytes(of: 0, as: UInt16.self)
      copied = valueStart + value.count
      secret = message.repeated.contains(ProviderFieldSet(.authorization)) ? nextSecret(block, copied) : nil
    }
    end = copy(block[copied...], to: end)
    return end - output
  }

  @inline(__always)
  private static func copy(
    _ bytes: Slice<UnsafeRawBufferPointer>, to end: UnsafeMutableRawPointer
  ) -> UnsafeMutableRawPointer {
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    if let source = bytes.baseAddress { end.copyMemory(from: source, byteCount: bytes.count) }
    return end + bytes.count
  }

  /// Where the next field begins that must not be remembered, from one field on.
  private static func nextSecret(_ block: UnsafeRawBufferPointer, _ start: Int) -> Int? {
    var offset = start
    while offset < block.count {
      let (name, value) = field(in: block, at: offset)
      if isSecret(name) { return offset }
      offset += size(name, value)
    }
    return nil
  }

  /// The fields of a block without `authorization`, unless that is asked for; what does not make a whole field is left out.
  public static func read(
    _ block: UnsafeRawBufferPointer, withSecrets: Bool = false
  ) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    forEach(in: block) { name, value in
      guard withSecrets || !isSecret(name) else { return }
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
    while position + headSize <= block.count {
      let (name, value) = field(in: block, at: position)
      position += size(name, value)
      guard position <= block.count else { break }
      body(name, value)
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
