import Basics
import CExpat

/// One document, read by expat's parser: the only place where that is known.
///
/// This object owns the parser, which ends with it. The parser has an unretained pointer back, `user`, and uses it only while `read`
/// runs, when somebody holds this object.
@safe
final class PropertyListReader {
  private let parser: XML_Parser
  private var builder = PropertyListBuilder()

  /// nil without memory for a parser.
  init?() {
    guard let parser = unsafe XML_ParserCreate(nil) else { return nil }
    unsafe self.parser = unsafe parser
  }

  deinit { unsafe XML_ParserFree(parser) }

  /// nil if it is no property list. To be called once: a parser is for one document.
  func read(_ document: Span<UInt8>) -> PropertyList? {
    listen()
    let status = unsafe document.withUnsafeBytes {
      unsafe XML_Parse(parser, $0.bindMemory(to: CChar.self).baseAddress, Int32(clamping: $0.count), 1)
    }
    return status == XML_STATUS_OK ? builder.value : nil
  }

  private func listen() {
    unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    unsafe XML_SetElementHandler(
      parser,
      { user, name, _ in
        if let name = unsafe name {
          unsafe PropertyListReader.tell(user) { unsafe $0.began(String(cString: name)) }
        }
      },
      { user, _ in unsafe PropertyListReader.tell(user) { $0.ended() } })
    unsafe XML_SetCharacterDataHandler(parser) { user, text, count in
      let bytes = unsafe UnsafeRawBufferPointer(start: text, count: Int(count))
      unsafe PropertyListReader.tell(user) { unsafe $0.said(bytes.span) }
    }
    // What is declared may be used again and again. Without declarations only XML's own entities are known; where a
    // document names its type, others are skipped and not an error.
    unsafe XML_SetStartDoctypeDeclHandler(parser) { user, _, _, _, hasDeclarations in
      unsafe PropertyListReader.tell(user) { if hasDeclarations != 0 { $0.refuse() } }
    }
    unsafe XML_SetSkippedEntityHandler(parser) { user, _, _ in
      unsafe PropertyListReader.tell(user) { $0.refuse() }
    }
  }

  /// Expat may have more to tell of a document that has been refused.
  private static func tell(_ user: UnsafeMutableRawPointer?, _ fact: (inout PropertyListBuilder) -> Void) {
    guard let user = unsafe user else { return }
    let reader = unsafe Unmanaged<PropertyListReader>.fromOpaque(user).takeUnretainedValue()
    guard !reader.builder.isRefused else { return }
    fact(&reader.builder)
    if reader.builder.isRefused { unsafe XML_StopParser(reader.parser, 0) }
  }
}
