import Basics
import PushModel

/// Captured requests as an HTTP archive (HAR 1.2), which browsers and proxies open. What is not captured (timings, sizes
/// on the wire) is -1 or 0, as the format has it.
public enum HARDocument {
  /// Everything before the first entry.
  public static func head(software: String) -> String {
    let creator: JSONValue = ["name": "apns-emulator", "version": .string(software)]
    return "{\"log\":{\"version\":\"1.2\",\"creator\":\(creator.text),\"entries\":["
  }

  /// Everything after the last entry.
  public static let tail = "]}}"

  /// One request of a capture that began at `start`.
  public static func entry(
    _ entry: CaptureEntry, of batch: CaptureBatch, start: Timestamp, host: String
  ) -> JSONValue {
    var (headers, authority): ([JSONValue], String) = ([], host)
    FieldBlock.forEach(in: batch.fields(entry)) { name, value in
      let (name, value) = (name.text, value.text)
      if name == ":authority" { authority = value }
      if !name.hasPrefix(":") { headers.append(["name": .string(name), "value": .string(value)]) }
    }
    let path = batch.path(entry).text
    let body = Array(batch.content(entry))
    let request: JSONValue = [
      "method": .string(batch.method(entry).text),
      "url": .string("https://\(authority)\(path)"), "httpVersion": "HTTP/2.0", "cookies": [],
      "headers": .array(headers), "queryString": [],
      "postData": [
        "mimeType": "application/json", "params": [], "text": .string(String(decoding: body, as: UTF8.self)),
      ], "headersSize": -1, "bodySize": .integer(Int64(body.count)),
    ]
    return [
      "startedDateTime": .string(start.adding(nanoseconds: entry.nanoseconds).rfc3339), "time": 0,
      "request": request, "response": response(batch.outcome(entry)), "cache": [:],
      "timings": ["send": 0, "wait": 0, "receive": 0], "connection": .string("\(entry.connection)"),
    ]
  }

  private static func response(_ outcome: CapturedOutcome) -> JSONValue {
    let body = outcome.reason.map { JSONValue.object([("reason", .string($0))]).text } ?? ""
    let id = outcome.apnsID.map {
      JSONValue.object([("name", "apns-id"), ("value", .string($0.description))])
    }
    return [
      "status": .integer(Int64(outcome.status)), "statusText": .string(outcome.reason ?? ""),
      "httpVersion": "HTTP/2.0", "cookies": [], "headers": .array(id.map { [$0] } ?? []),
      "content": [
        "size": .integer(Int64(body.utf8.count)), "mimeType": "application/json", "text": .string(body),
      ], "redirectURL": "", "headersSize": -1, "bodySize": .integer(Int64(body.utf8.count)),
    ]
  }
}
