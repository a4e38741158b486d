import Advice
import Basics
import PushModel
import Testing

import Commands

@Suite("The list of advice") struct AdviceListTests {
  private func finding(_ id: String, _ severity: String, notifications: [Int64] = []) -> JSONValue {
    [
      "id": .string(id), "severity": .string(severity),
      "provider": [
        "interface": "gateway", "credential": "certificate of com.example.app", "peer": "127.0.0.1",
      ], "connections": 1, "count": 87, "first": "2026-01-02T03:04:05Z", "last": "2026-01-02T03:04:06Z",
      "notifications": .array(notifications.map { .integer($0) }), "sentence": "what was seen",
      "remedy": "what to do", "evidence": ["page": "Documentation/advice.md", "heading": .string(id)],
      "faults": [],
    ]
  }

  private func list(_ findings: [JSONValue], pushes: Int64) -> AdviceList {
    AdviceList(["findings": .array(findings), "notifications": .integer(pushes), "counts": [:]])
  }

  @Test("each finding has what was seen, what to do, and whom it is about")
  func lines() {
    let advice = list(
      [finding("lost-after-error", "error", notifications: [17, 18, 19]), finding("command-0", "note")],
      pushes: 100)
    #expect(
      advice.lines == [
        "1 error, 1 note about 100 pushes", "error    lost-after-error: what was seen",
        "         what to do",
        "         gateway · certificate of com.example.app · from 127.0.0.1 · notifications 17, 18, 19",
        "note     command-0: what was seen", "         what to do",
        "         gateway · certificate of com.example.app · from 127.0.0.1",
        "Documentation/advice.md explains each",
      ])
  }

  @Test("without findings there is a line that says how much was seen")
  func nothing() {
    #expect(list([], pushes: 1).lines == ["nothing to say about 1 push"])
    #expect(list([], pushes: 1000).lines == ["nothing to say about 1000 pushes"])
    #expect(AdviceList([]).lines == ["nothing to say"])
  }

  @Test("a severity counts those that are worse too")
  func severity() {
    let warning = list([finding("no-push-type", "warning")], pushes: 1)
    #expect(!warning.has(.error) && warning.has(.warning))
    let error = list([finding("lost-after-error", "error")], pushes: 1)
    #expect(error.has(.error) && error.has(.warning))
    let note = list([finding("command-0", "note")], pushes: 1)
    #expect(!note.has(.error) && !note.has(.warning))
  }

  @Test("a sentence can't drive a terminal")
  func control() {
    var hostile = finding("no-push-type", "warning")
    if case .object(let members) = hostile {
      hostile = .object(members.filter { $0.0 != "sentence" } + [("sentence", "a\u{1B}[2Jb")])
    }
    #expect(list([hostile], pushes: 1).lines[1] == "warning  no-push-type: a\\u{1b}[2Jb")
  }

  @Test("what an emulator in the same process has found has the same lines, without whom it is about")
  func inProcess() {
    let provider = Finding.Provider(interface: .gateway, credential: "", peer: "127.0.0.1")
    let time = Timestamp(seconds: 0)
    let found = Finding(
      rule: .lostAfterError, severity: .error, provider: provider, first: time, last: time,
      sentence: "what was seen", remedy: "what to do")
    let advice = AdviceList([found])
    #expect(
      advice.lines == [
        "1 error", "error    lost-after-error: what was seen", "         what to do",
        "Documentation/advice.md explains each",
      ])
    #expect(advice.has(.error))
  }
}
