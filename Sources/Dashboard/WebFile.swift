/// A file of the dashboard or of the page that shows the API, as a browser gets it.
///
/// Text in the binary instead of package resources, which would be files beside it; and scripts of their own instead of
/// some inside the pages, so that the pages' policy can forbid everything that is not served from here.
package struct WebFile: Sendable {
  /// For the field Content-Type.
  package let contentType: String
  package let text: String

  /// Names of all files, as the folder `Web` has them. Nothing else is ever served.
  package static var names: [String] { embedded.keys.sorted() }

  package init(contentType: String, text: String) {
    (self.contentType, self.text) = (contentType, text)
  }

  /// The file of that name as it is in the binary; nil if there is none.
  package init?(named name: String) {
    guard let text = Self.embedded[name], let type = Self.contentType(of: name) else { return nil }
    (contentType, self.text) = (type, text)
  }

  private static func contentType(of name: String) -> String? {
    let types = ["html": "text/html", "css": "text/css", "js": "text/javascript"]
    return types[String(name.split(separator: ".").last ?? "")].map { "\($0); charset=utf-8" }
  }
}
