import Basics
import Broker
import Transport

/// What any node of a cluster answers for all of them: it asks the others for what is their own.
extension Console {
  /// How long another node may say nothing before it is left out, in nanoseconds: a node that lives answers in milliseconds, and who
  /// asks waits for it.
  static let otherTimeout: Int64 = 2_000_000_000
  /// How long the others have for what they have found when a wait ends, in nanoseconds: who waits has said how long he will.
  static let waitGrace: Int64 = 500_000_000

  /// `GET /api/v1/notifications`
  func mergeNotifications(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, _ others: any OtherConsoles
  ) throws {
    // Both must be given once, before each node gets its part.
    _ = try request.query()
    var query = try QueryReader(request.http.part { others.home(of: $0) == .here }.query)
    let search = try NotificationSearch(&query)
    try query.finish()
    let histories = others.names.map { name in
      OtherHistory(name, after: knownPosition(request.http, others, name, search))
    }
    let merged = MergedHistory(
      search.begin(broker), histories, broker, limit: search.limit, isNewestFirst: search.isNewestFirst,
      lost: Set(others.missing))
    for history in histories {
      var part = ordered(request.http.part { others.home(of: $0) == .at(history.node) })
      part.method = "GET"
      history.ask(others, part, timeout: Self.otherTimeout)
    }
    answer(merged, GrowingDocument(merged.members), to: exchange)
  }

  /// Answers with a document of what all nodes have, as it comes.
  func answer(_ merged: MergedHistory, _ document: GrowingDocument, to exchange: HTTPExchange) {
    merged.onReady = { [weak document] in document?.goOn() }
    exchange.onGone = {
      merged.giveUp()
      document.onReady = nil
    }
    slices.answer(document, to: exchange)
  }

  /// What the reader knows of a node.
  private func knownPosition(
    _ request: HTTPRequest, _ others: any OtherConsoles, _ node: String, _ search: NotificationSearch
  ) -> UInt64? {
    request.queryValue(search.isNewestFirst ? "before" : "since").flatMap(HistoryCursor.init)?.ids.first {
      others.home(of: $0) == .at(node)
    }
  }

  /// Another node is to answer behind all orders that this one has carried out: what was reset here is reset there.
  func ordered(_ request: HTTPRequest) -> HTTPRequest {
    guard let orders = context.orders else { return request }
    var request = request
    request.fields.append(HTTPField(OrderedRequest.lastOrderField, String(orders.lastOrder)))
    return request
  }

  /// `GET /api/v1/notifications/{id}`: the node by which it came has it.
  func findNotification(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, _ others: any OtherConsoles
  ) throws {
    guard let id = UInt64(request.part("id")), case .at(let node) = others.home(of: id) else {
      return exchange.answer(try showNotification(request))
    }
    others.pass(exchange, to: node) { ConsoleError.busy($0).response.finished }
  }

  /// `DELETE /api/v1/notifications`: the others first, so that who hears of success need not do it again.
  func deleteEverywhere(
    _ request: ConsoleRequest, _ exchange: HTTPExchange, _ others: any OtherConsoles
  ) throws {
    var query = try request.query()
    let filter = try NotificationFilter(&query)
    try query.finish()
    others.spread(ordered(request.http), timeout: Self.otherTimeout) { [unowned self] answers in
      let failures = answers.compactMap(\.failure)
      guard failures.isEmpty else { return exchange.answer(Self.notDone(failures)) }
      let elsewhere = answers.reduce(0) { sum, answer in
        guard case .integer(let count)? = JSONReader.read(answer.body)?.member("deleted"),
          (0...Int64(Journal.maximumCapacity)).contains(count)
        else { return sum }
        return sum + Int(count)
      }
      slices.answer(deletion(filter, elsewhere: elsewhere), to: exchange)
    }
  }

  /// Not all nodes have done what all are to do.
  static func notDone(_ failures: [String]) -> HTTPResponse {
    let sentence = "not all nodes have done it, and doing it again is no harm: "
    return ConsoleError.busy(sentence + failures.sorted().joined(separator: "; ")).response
  }
}
