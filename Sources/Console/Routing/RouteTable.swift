import Basics
import PushModel

/// In a cluster every node knows every device and token, and any node answers what is asked about them. What a device's node alone
/// knows (its connections, its phone, what is on its way) or does (whatever changes something, as only it may write the device's
/// zone) is `ledCount`, and passed on to that node. What is for the whole cluster is `ordered`: every node does it, in one order
/// for all. What is `spread` every node does for the zones that are its own. What came in by each node, and is in its history
/// alone, is `merged`: the node that is asked asks the others.
extension Console {
  var watchRoutes: [Route] {
    [
      .post(
        "/api/v1/notifications/wait", "Waits until enough notifications match",
        .exchange(bound(Console.waitForNotifications))
      )
      .merged(Console.mergeWait).takes(NotificationWait.schema).refuses(503)
      .answers(200, "As many as were asked for", NotificationAnswer.found.schema)
      .answers(
        408, "They did not come; what came nearest and why it did not match",
        NotificationAnswer.timeout.schema),
      .get(
        "/api/v1/events",
        "Everything that happens, as server-sent events. Ids are `boot-number`; the first event of each stream is `boot`",
        .exchange(bound(Console.streamEvents))
      )
      .merged(Console.mergeEvents).query([.eventSince]).stream.refuses(503)
      .answers(200, "A stream without end", .text(APIExamples.events), contentType: "text/event-stream"),
    ]
  }
}
