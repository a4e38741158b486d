import PropertyList
import Testing

@Suite("Property list")
struct PropertyListTests {
  private func read(_ text: String) -> PropertyList? { PropertyList(document: Array(text.utf8)) }

  @Test("is read as it was written, on one line")
  func roundTrip() {
    let list = PropertyList.dictionary([
      "a & b": .string("<\"'&\u{301}>"), "data": .data([0, 1, 254]), "none": .array([]),
      "list": .array([.boolean(true), .boolean(false), .dictionary([:])]),
    ])
    #expect(read(list.document) == list)
    #expect(!list.document.utf8.contains(0x0a))
  }

  @Test("is read as Apple's tools lay it out")
  func appleLayout() {
    let text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0">
      <dict>
      \t<!-- a <comment> -->
      \t<key>Complete</key>
      \t<true/>
      \t<key>Count</key>
      \t<integer>7</integer>
      \t<key>Data</key>
      \t<data>
      \tAAEC
      \t/v8=
      \t</data>
      \t<key>Text</key>
      \t<string>&#65;&#x42; &lt;&gt;&amp;&quot;&apos;</string>
      \t<key>Empty</key>
      \t<string/>
      </dict>
      </plist>
      """
    #expect(
      read(text)
        == .dictionary([
          "Complete": .boolean(true), "Count": .string("7"), "Data": .data([0, 1, 2, 254, 255]),
          "Text": .string("AB <>&\"'"), "Empty": .string(""),
        ]))
  }

  @Test("is read behind line breaks, in pieces and in the character set that it names")
  func otherSpelling() {
    #expect(
      read("\r\n <?xml version=\"1.0\"?><string>a<!-- b --><![CDATA[<c>]]></string>\n") == .string("a<c>"))
    let latin = Array("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><string>".utf8) + [0xe9]
    #expect(PropertyList(document: latin + Array("</string>".utf8)) == .string("\u{e9}"))
    #expect(PropertyList(document: Array("<string>".utf8) + [0xe9] + Array("</string>".utf8)) == nil)
  }

  @Test(
    "is nil when it is broken",
    arguments: [
      "", "plist", "<plist>", "<plist></plist>", "<dict>", "<dict><key>a</key></dict>",
      "<dict><string>a</string></dict>",
      "<string>a", "<string>a</data>", "<string>&foo;</string>", "<string>&amp</string>", "<data>*</data>",
      "<string>&#xd800;</string>", "<string>&#99999999999;</string>", "<other/>", "<!-- ", "<",
      "<array><true/>", "<true>x</true>", "<plist><true/><true/></plist>",
      "<dict><key>a</key><key>b</key></dict>",
      "<key>a</key>", "<array><key>a</key></array>", "<string><true/></string>", "<true/>x",
      "<!DOCTYPE plist PUBLIC \"a\" \"b\"><string>&foo;</string>", "<string>\u{0}</string>",
    ])
  func broken(text: String) { #expect(read(text) == nil) }

  @Test("expands no entity of its own and nests no deeper than its limit")
  func bombs() {
    let types = [
      "<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">", "<!ENTITY % a \"<!ENTITY b 'b'>\">%a;",
      "<!ENTITY b SYSTEM \"file:///etc/passwd\">", "<!ATTLIST string a CDATA \"aaaa\">",
    ]
    for type in types {
      #expect(read("<!DOCTYPE x [\(type)]><string>&b;</string>") == nil, "\(type)")
      #expect(read("<!DOCTYPE x [\(type)]><string>b</string>") == nil, "\(type)")
    }
    func nested(_ depth: Int) -> PropertyList? {
      read(
        "<plist>" + String(repeating: "<array>", count: depth) + String(repeating: "</array>", count: depth)
          + "</plist>")
    }
    #expect(nested(PropertyList.maximumDepth) != nil)
    #expect(nested(PropertyList.maximumDepth + 1) == nil && nested(100_000) == nil)
  }
}
