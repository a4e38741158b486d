import Basics
import PushModel
import Testing

import Advice

/// Facts in any order, of connections that may not be there: nothing traps, and what is found is sound.
@Suite struct RandomFactsTests {
  @Test(arguments: [1, 2, 3] as [UInt64])
  func `Whatever is seen, findings are sound and of known providers`(_ seed: UInt64) {
    let play = ProviderPlay()
    var choices = SeededChoices(seed: seed, name: "facts")
    var connections: [UInt32] = [0]
    for _ in 0..<10_000 {
      let connection = connections[Int(choices.next() % UInt64(connections.count))]
      let number = Int(choices.next() % 20)
      switch choices.next() % 12 {
      case 0:
        let interface = Interface.allCases[number % Interface.allCases.count]
        connections.append(play.connect(interface, credential: number < 5 ? nil : "team \(number % 3)"))
        if connections.count > 40 { connections.removeFirst() }
      case 1: play.end(connection, pushes: number % 3, streams: 1, fault: number > 15 ? "rule" : nil)
      case 2: play.adviser.identified(connection, as: "team \(number % 3)")
      case 3: play.happens(.goAway(fault: number > 10 ? "rule" : nil), on: connection)
      case 4: play.lost(.droppedAboveGoAway, on: connection, token: number)
      case 5: play.errorPacket(on: connection, discarding: 1...(1 + number))
      case 6: play.lost(.acceptedBeforeError, on: connection, token: number)
      case 7: play.happens(.discardedUnseen(count: number - 1), on: connection)
      case 8:
        play.happens(
          .providerToken(number: UInt32(number), team: "TEAM", topic: UInt32(number % 4)), on: connection)
      case 9: play.rest(number / 4)
      default:
        let rejection = Rejection(rawValue: UInt8(truncatingIfNeeded: choices.next() % 60))
        play.push(
          on: connection, number < 10 ? .gateway : .provider, token: number, payload: number % 3,
          refused: rejection, fault: number > 16 ? "rule" : nil
        ) { if number == 7 { $0.pushType = .background } }
      }
      play.wait(Double(number) / 1000)
    }
    let findings = play.adviser.findings()
    #expect(findings.count > 10)
    for finding in findings {
      #expect(finding.count > 0 && finding.connections > 0 && finding.first <= finding.last)
      #expect(finding.sentence.hasSuffix(".") && finding.remedy.hasSuffix("."))
      #expect(["", "team 0", "team 1", "team 2"].contains(finding.provider.credential))
      #expect(finding.underFaults.allSatisfy { $0.count <= finding.count })
    }
    #expect(zip(findings, findings.dropFirst()).allSatisfy { $0.severity >= $1.severity })
  }
}
