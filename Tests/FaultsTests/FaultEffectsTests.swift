import Basics
import Foundation
import PushModel
import Testing

import Faults

@Suite struct FaultEffectsTests {
  @Test("Each effect has an entry, and each entry a name, members and a magic word of its own")
  func entries() {
    #expect(Mirror(reflecting: FaultEffects()).children.count == FaultEffects.all.count)
    #expect(Set(FaultEffects.names).count == FaultEffects.all.count)
    #expect(Set(FaultEffects.form.names).count == FaultEffects.form.names.count)
    let magicWords = FaultEffects.all.compactMap(\.magicWord)
    #expect(
      Set(magicWords).count == magicWords.count && magicWords.allSatisfy { Rejection(reason: $0) == nil })
  }

  @Test("The page of faults has every member of a rule's effect, and every magic word")
  func documented() throws {
    let file = URL(filePath: #filePath).appending(path: "../../../Documentation/faults.md").standardized
    let page = try String(contentsOf: file, encoding: .utf8)
    for name in FaultEffects.form.names { #expect(page.contains("`\(name)"), "\(name)") }
    for magicWord in FaultEffects.all.compactMap(\.magicWord) {
      #expect(page.contains("`!\(magicWord)"), "\(magicWord)")
    }
  }

  @Test(
    "What one effect is written as is read as that effect, which is injected at its moment",
    arguments: [
      (#"{"reason":"Unregistered"}"#, "reason", FaultStage.push),
      (#"{"delayMs":5}"#, "delay", .push), (#"{"delayMs":0,"jitterMs":7}"#, "delay", .push),
      (#"{"dribble":{"bytes":2,"everyMs":9}}"#, "dribble", .push),
      (#"{"legacy":{"status":7,"identifier":9}}"#, "legacy", .push), (#"{"reset":true}"#, "reset", .push),
      (#"{"rstStream":4294967295}"#, "rstStream", .push), (#"{"garbage":1048576}"#, "garbage", .push),
      (#"{"goaway":{}}"#, "goaway", .push),
      (#"{"goaway":{"reason":"Shutdown","lastStream":"zero","keepsOpen":true}}"#, "goaway", .push),
      (#"{"goaway":{"lastStream":"highest"}}"#, "goaway", .push), (#"{"taken":true}"#, "taken", .push),
      (#"{"streamLimit":0}"#, "streamLimit", .push), (#"{"streamLimit":1000}"#, "streamLimit", .push),
      (#"{"initialStreamLimit":1}"#, "initialStreamLimit", .connection),
      (#"{"halfClose":true}"#, "halfClose", .push),
      (#"{"stall":true}"#, "stall", .push), (#"{"tlsAlert":255}"#, "tlsAlert", .connection),
      (#"{"refuse":true}"#, "refuse", .connection), (#"{"courier":"stall"}"#, "courier", .delivery),
    ])
  func single(json: String, name: String, stage: FaultStage) throws {
    var effects = FaultEffects()
    try FaultEffects.form.read(JSONObject(body: Array(json.utf8)), into: &effects)
    #expect(effects.names == [name] && effects.stage == stage && effects.document.text == json)
  }
}
