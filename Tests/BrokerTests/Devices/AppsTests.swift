import Basics
import PushModel
import Testing

import Broker

@Suite("Apps on a phone, and the feedback service")
struct AppsTests {
  let lab = Lab()

  private func change(_ change: AppChange, environment: Environment = .sandbox) -> DeviceToken? {
    lab.broker.apps.change(change, device: 0, topic: 0, environment: environment, now: lab.now)
  }

  private func goneAt(_ row: RegistrationID) -> Timestamp { lab.broker.registry[row].goneAt }

  // MARK: Gone only after the device was tried

  @Test("a removed app is not gone until the device is tried")
  func removedOnly() throws {
    let row = try lab.row()
    _ = try lab.connect(enabling: [Lab.app])
    #expect(change(.remove) == nil)
    #expect(goneAt(row) == .never)
    #expect(lab.broker.feedback.rows.isEmpty)
  }

  @Test("a push to a removed app on a phone that is there is accepted, dropped, and makes the token gone")
  func removedAndTried() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    _ = change(.remove)
    #expect(phone.changes == [.remove])
    lab.pass(seconds: 7)
    let result = lab.submit(row, "tried")
    #expect(result.rejection == nil)
    #expect(lab.state(result.id) == .discarded)
    #expect(lab.broker.journal[result.id]?.endedAt == lab.now && lab.broker.counters.discarded == 1)
    #expect(phone.received.isEmpty)
    #expect(goneAt(row) == lab.now)
    #expect(lab.broker.feedback.rows == [row])
  }

  @Test("a phone that is offline reports when it comes back and was pushed to")
  func reportsLater() throws {
    let row = try lab.row()
    _ = change(.remove)
    let id = lab.push(row, "kept for nobody")
    #expect(goneAt(row) == .never)
    #expect(lab.state(id) == .stored)
    lab.pass(seconds: 60)
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(phone.received.isEmpty)
    #expect(goneAt(row) == lab.now)
    #expect(lab.state(id) == .discarded)
    #expect(lab.kept(row) == nil)
  }

  @Test("a phone that comes back and was not pushed to reports nothing")
  func nothingToReport() throws {
    let row = try lab.row()
    _ = change(.remove)
    _ = try lab.connect(enabling: [Lab.app])
    #expect(goneAt(row) == .never)
  }

  @Test("a phone that is only in the other environment reports nothing")
  func otherEnvironment() throws {
    let row = try lab.row()
    _ = try lab.connect(environment: .production, enabling: [Lab.app])
    _ = change(.remove)
    lab.push(row, "tried")
    #expect(goneAt(row) == .never)
    _ = try lab.connect(enabling: [Lab.app])
    #expect(goneAt(row) == lab.now)
  }

  @Test("an expiration of 0 to a removed app on a phone that is offline tells nobody anything")
  func onceToNobody() throws {
    let row = try lab.row()
    _ = change(.remove)
    lab.push(row, "once", expiration: 0)
    _ = try lab.connect(enabling: [Lab.app])
    #expect(goneAt(row) == .never)
  }

  @Test("the first report counts; the time never moves")
  func firstReport() throws {
    let row = try lab.row()
    _ = try lab.connect(enabling: [Lab.app])
    _ = change(.remove)
    lab.push(row, "1")
    let first = goneAt(row)
    lab.pass(seconds: 5)
    lab.push(row, "2")
    #expect(goneAt(row) == first)
    #expect(lab.broker.feedback.rows == [row])
  }

  @Test("a message in flight to an app that is removed then is discarded or delivered, never kept")
  func inFlight() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "in flight")
    _ = change(.remove)
    lab.push(row, "tried")
    try lab.disconnect(phone)
    #expect(lab.kept(row) == nil)
    #expect(goneAt(row) != .never)
  }

  // MARK: Tokens over the life of an app

  @Test("an update keeps the token")
  func update() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(change(.update) == lab.broker.registry[row].token)
    #expect(phone.changes == [.update])
    lab.push(row, "message")
    #expect(phone.texts == ["message"])
  }

  @Test("a reinstall gives a new token; pushes to the old one make it gone, and it never comes back")
  func reinstall() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    let token = try #require(change(.reinstall))
    #expect(token != lab.broker.registry[row].token)
    let newRow = try #require(lab.broker.registry.find(token))
    #expect(lab.broker.registry[newRow].install == 2)
    lab.push(row, "to the old")
    lab.push(newRow, "to the new")
    #expect(phone.texts == ["to the new"])
    #expect(goneAt(row) == lab.now)
    #expect(goneAt(newRow) == .never)
    #expect(change(.install) == token)
    #expect(change(.reinstall) != token)
    #expect(!lab.broker.registry[row].isActive)
  }

  @Test("an app that was removed and installed again has a new token")
  func removedAndInstalled() throws {
    let row = try lab.row()
    _ = change(.remove)
    let token = try #require(change(.install))
    #expect(token != lab.broker.registry[row].token)
  }

  @Test("installing what is installed changes nothing")
  func installedTwice() throws {
    let row = try lab.row()
    #expect(change(.install) == lab.broker.registry[row].token)
    #expect(lab.broker.registry.registrationCount == 1)
  }

  @Test("removing what is not installed changes nothing")
  func removedTwice() throws {
    _ = try lab.row()
    #expect(change(.remove) == nil)
    #expect(change(.remove) == nil)
    #expect(lab.broker.registry.registrationCount == 1)
  }

  @Test("a change in one environment leaves the other alone")
  func changeApart() throws {
    let production = try lab.row("phone", Lab.app, .production)
    _ = try lab.row()
    _ = change(.remove)
    #expect(!lab.broker.registry[production].isAbandoned)
  }

  @Test(
    "removing an app ends the tokens of all its push types, and of no other app",
    arguments: [AppChange.remove, .reinstall])
  func family(_ what: AppChange) throws {
    let own = try lab.row()
    let suffixed = [
      try lab.row("phone", Lab.app + ".voip"), try lab.row("phone", Lab.app + ".push-type.widgets"),
    ]
    let others = [
      try lab.row("phone", Lab.app + "store"), try lab.row("phone", Lab.app + ".voip", .production),
      try lab.row("tablet", Lab.app + ".voip"),
    ]
    let token = change(what)
    #expect(([own] + suffixed).allSatisfy { lab.broker.registry[$0].isAbandoned })
    #expect(others.allSatisfy { !lab.broker.registry[$0].isAbandoned })
    // An app that is back asks again for what it had asked for.
    let installed = suffixed.compactMap {
      lab.broker.registry.installed(0, lab.broker.registry[$0].topic, .sandbox)
    }
    #expect(installed.count == (what == .remove ? 0 : suffixed.count))
    #expect(Set(installed).isDisjoint(with: suffixed) && (token != nil) == (what == .reinstall))
  }

  @Test("a phone restored from a backup has its apps, each with another token, and another base token")
  func restore() throws {
    let rows = [
      try lab.row(), try lab.row("phone", Lab.app + ".voip"), try lab.row("phone", "a.two", .production),
    ]
    let gone = try lab.row("phone", "a.gone")
    let noMore = lab.broker.registry[gone].topic
    _ = lab.broker.apps.change(.remove, device: 0, topic: noMore, environment: .sandbox, now: lab.now)
    let phone = try lab.connect(enabling: [Lab.app])
    let before = lab.broker.registry.baseToken(0, .sandbox)
    #expect(lab.broker.apps.restore(0, now: lab.now))
    #expect(phone.changes == [.restore])
    #expect(phone.endReasons.count == 1 && !lab.broker.registry.devices[0].isOnline)
    #expect(lab.broker.registry.baseToken(0, .sandbox) != before)
    let session = try #require(phone.session)
    for old in rows.map({ lab.broker.registry[$0] }) {
      let new = try #require(lab.broker.registry.installed(0, old.topic, old.environment))
      #expect(old.isAbandoned && lab.broker.registry[new].token != old.token)
      // A phone that was offline is not told that its app was removed, but gets the other token.
      #expect(!lab.broker.apps.wasRemoved(old.token, from: session))
    }
    #expect(lab.broker.registry.installed(0, noMore, .sandbox) == nil)
  }

  @Test("an erased phone loses its connections, its apps and its base token")
  func erase() throws {
    let rows = [try lab.row(), try lab.row("phone", "a.two"), try lab.row("phone", "a.two", .production)]
    let sandbox = try lab.connect(enabling: [Lab.app, "a.two"])
    let production = try lab.connect(environment: .production, enabling: ["a.two"])
    let before = lab.broker.registry.baseToken(0, .sandbox)
    lab.push(rows[0], "in flight")
    lab.broker.apps.erase(0, now: lab.now)
    #expect(sandbox.changes == [.erase])
    #expect(production.changes == [.erase])
    #expect(sandbox.endReasons.count == 1)
    #expect(production.endReasons.count == 1)
    #expect(!lab.broker.registry.devices[0].isOnline)
    #expect(lab.broker.registry.baseToken(0, .sandbox) != before)
    #expect(rows.allSatisfy { lab.broker.registry[$0].isAbandoned })
    #expect(rows.allSatisfy { goneAt($0) == .never })
    let base = lab.broker.registry.baseToken(0, .sandbox)
    let restored = try lab.connect(key: [9], enabling: [Lab.app, "a.two"])
    // The new key is the one identity after the erase.
    #expect(lab.broker.registry.baseToken(0, .sandbox) == base)
    #expect(restored.received.isEmpty)
    #expect(goneAt(rows[0]) == lab.now)
    #expect(goneAt(rows[1]) == .never)
    #expect(change(.install) != lab.broker.registry[rows[0]].token)
  }

  // MARK: Feedback

  @Test("the list is by topic and environment, oldest first, and cleared entry by entry")
  func feedback() throws {
    let rows = [
      try lab.row(), try lab.row("phone", "a.two"), try lab.row("tablet"),
      try lab.row("phone", Lab.app, .production),
    ]
    let (one, two) = (try lab.topic(), try lab.topic("a.two"))
    for row in [rows[2], rows[0], rows[3], rows[1]] {
      lab.pass(seconds: 1)
      lab.broker.feedback.reportGone(row, now: lab.now)
    }
    #expect(lab.broker.feedback.rows == [rows[2], rows[0], rows[3], rows[1]])
    #expect(lab.broker.feedback.rows(topics: [one], environment: .sandbox) == [rows[2], rows[0]])
    #expect(
      lab.broker.feedback.rows(topics: [one, two], environment: .sandbox) == [rows[2], rows[0], rows[1]])
    #expect(lab.broker.feedback.rows(topics: [one], environment: .production) == [rows[3]])
    #expect(lab.broker.feedback.rows(topics: [], environment: .sandbox).isEmpty)
    lab.broker.feedback.clear([rows[2], rows[1]])
    #expect(lab.broker.feedback.rows == [rows[0], rows[3]])
    #expect(lab.broker.registry[rows[0]].awaitsFeedback)
    #expect(!lab.broker.registry[rows[2]].awaitsFeedback)
    // Read entries do not come back by themselves.
    lab.push(rows[2], "again")
    #expect(lab.broker.feedback.rows == [rows[0], rows[3]])
  }

  // MARK: At the ends of numbers

  @Test("behind the last identity comes the first again: an erase gives another base token all the same")
  func lastIdentity() throws {
    let device = try lab.device()
    var told = DeviceRow(try #require(UDID("phone")))
    told.identity = .max
    _ = lab.broker.rows.admit(told, now: lab.now)
    let last = lab.broker.registry.baseToken(device, .sandbox)
    lab.broker.apps.erase(device, now: lab.now)
    #expect(lab.broker.registry[device].identity == 1)
    #expect(lab.broker.registry.baseToken(device, .sandbox) != last)
    _ = try lab.connect(key: [1])
    _ = try lab.connect(key: [2])
    #expect(lab.broker.registry[device].identity == 2)
  }

  @Test("an app whose last install had the greatest number gets the lowest that is free")
  func lastInstall() throws {
    _ = try lab.row()
    var told = TokenRow()
    (told.token, told.install) = (DeviceToken(bytes: [UInt8](repeating: 9, count: 32)), .max)
    told.issuedAt = lab.now
    _ = try #require(lab.broker.rows.admit(told, of: 0, 0, because: .imported, now: lab.now))
    let tokens = [change(.reinstall), change(.reinstall)]
    #expect(
      lab.broker.registry.registrations(of: 0).map { lab.broker.registry[$0].install } == [3, 2, .max, 1])
    #expect(Set(tokens.compactMap(\.self)).count == 2)
    #expect(Registration.nextInstall(after: []) == 1)
    #expect(Registration.nextInstall(after: [7, 3]) == 8)
    #expect(Registration.nextInstall(after: [.max, 1, 2, 4]) == 3)
  }
}
