import Broker
import Faults
import Phone
import PushModel

/// The API's documents by their names, with their schemas and an example of each (`Documentation/console-api.md`). What each
/// says stands where it is read or written.
///
/// The examples tell of one phone with one app, so that one can be sent after the other: `State` makes what the rest is about.
enum APISchemas {
  static let all: [JSONSchema] =
    general + credentials + registry + phones + notifications + faults + cluster + savedState + explanations

  static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name ?? "", $0) })

  private static let general = [
    JSONSchema("Error", error, example: nil), JSONSchema("Reason", reason, example: nil),
    Console.status.schema, InfoDocument.shape.schema, ClockDocument.shape.schema,
    JSONSchema("ClockChange", ClockChange.form.schema, example: ["advance": "1m"]),
    JSONSchema("Reset", ResetRequest.form.schema, example: ["what": ["feedback"]]), ResetPart.done.schema,
    JSONSchema("StreamReceipt", StreamReceipt.form.schema, example: ["ids": [1]]),
    StreamReceipt.answer.schema,
    Disconnection.shape.schema, ConnectionReport.shape.schema,
  ]

  private static let credentials = [
    JSONSchema(
      "CertificateOrder", CertificateOrder.form.schema,
      example: ["topics": [JSONExample.topic], "format": "p12", "password": "secret"]),
    JSONSchema("KeyOrder", KeyOrder.form.schema, example: ["team": "TEAM123456"]),
    MadeCertificate.shape.schema, MadeKey.shape.schema, IssuedCertificate.shape.schema,
    IssuedKey.shape.schema, RevokedCredential.certificate.schema, RevokedCredential.key.schema,
  ]

  private static let registry = [
    JSONSchema(
      "TokenClaim", TokenClaim.form.schema,
      example: ["udid": JSONExample.udid, "topic": JSONExample.topic]),
    TokenDocument.shape.schema, TokenDetail.shape.schema, DeviceDocument.shape.schema,
    ChannelDocument.shape.schema, FeedbackDocument.shape.schema,
  ]

  private static let notifications = [
    NotificationDocument.shape.schema, NotificationDocument.whole.schema, NotificationAnswer.found.schema,
    NotificationAnswer.timeout.schema, NearMiss.shape.schema, NotificationDeletion.shape.schema,
    JSONSchema(
      "Wait", NotificationWait.schema,
      example: ["match": ["topic": JSONExample.topic], "count": 1, "timeoutMs": 1000]),
    JSONSchema(
      "TestPush", TestPush.form.schema,
      example: [
        "token": JSONExample.token, "topic": JSONExample.topic,
        "payload": JSONExample.payload,
      ]),
  ]

  private static let faults = [
    JSONSchema("FaultRequest", FaultRule.form.schema, example: .object(FaultRule.example)),
    FaultRule.shape.schema, FaultRule.list.schema,
  ]

  private static let cluster = [
    ClusterReport.shape.schema, ClusterReport.Node.shape.schema, ClusterReport.Zone.shape.schema,
    JSONSchema("ZoneMove", ZoneMove.form.schema, example: ["node": "node-2"]), NodeOrder.shape.schema,
  ]

  private static let savedState = [
    JSONSchema(
      "State", SavedState.form.schema,
      example: [
        "version": 1, "apps": [["topic": JSONExample.topic, "certificate": "both"]],
        "devices": [
          [
            "udid": JSONExample.udid,
            "apps": [["topic": JSONExample.topic, "token": JSONExample.token]],
          ]
        ],
      ]),
    JSONSchema("SavedApp", SavedApp.form.schema, example: nil),
    JSONSchema("SavedKey", SavedKey.form.schema, example: nil),
    JSONSchema("SavedDevice", SavedDevice.form.schema, example: nil),
    JSONSchema("SavedRow", SavedRow.form.schema, example: nil),
    JSONSchema("SavedMessage", SavedNotification.form.schema, example: nil),
    JSONSchema("SavedChannel", SavedChannel.form.schema, example: nil),
    JSONSchema("SavedSubscriber", SavedSubscriber.form.schema, example: nil),
    StateImport.Counts.shape.schema,
  ]

  /// As `HTTPResponse` writes it, with words for each status.
  private static let error = JSONShape<Void>([
    "error": .elsewhere(JSONShape<Void>(["code": .show { "" }, "message": .show { "" }]).schema)
  ]).schema.definition

  /// Apple's.
  private static let reason: JSONValue = [
    "type": "object", "required": ["reason"],
    "properties": ["reason": .words(JSONValue.reasons), "timestamp": ["type": "integer"]],
  ]
}
