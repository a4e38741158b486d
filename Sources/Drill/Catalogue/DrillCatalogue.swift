import Basics

/// All drills, in the order in which they run.
package enum DrillCatalogue {
  package static let all = goAway + connections + answers + binary

  /// Drills of these ids, in the order of the catalogue; all if there are none.
  ///
  /// - Throws: a sentence with the nearest name, for an id that there is not.
  package static func chosen(_ ids: [String]) throws(UnknownDrill) -> [Drill] {
    for id in ids where !all.contains(where: { $0.id == id }) { throw UnknownDrill(id: id) }
    return ids.isEmpty ? all : all.filter { ids.contains($0.id) }
  }

  /// A line for each, its id first.
  package static var list: [String] {
    let width = all.map(\.id.count).max() ?? 0
    return all.map { drill in
      let gap = String(repeating: " ", count: width - drill.id.count + 2)
      return
        "\(drill.id)\(gap)\(drill.interface.rawValue)\(drill.interface == .http2 ? " " : "")  \(drill.summary)"
    }
  }
}

/// There is no drill of this id.
package struct UnknownDrill: Error, Equatable, CustomStringConvertible {
  package let id: String

  /// A lower-case sentence.
  package var description: String {
    let ids = DrillCatalogue.all.map(\.id)
    return "there is no drill \(DocumentError.quoted(id.visible))"
      + (Suggestion.nearest(to: id, among: ids).map { "; did you mean \($0)?" } ?? nearest(among: ids))
  }

  /// Those that have a word in common with it, as whoever guesses an id knows some of its words.
  private func nearest(among ids: [String]) -> String {
    let words = Set(id.split(separator: "-"))
    let alike = ids.filter { !words.isDisjoint(with: $0.split(separator: "-")) }
    return alike.isEmpty ? "; drill --list names them" : "; there are \(alike.joined(separator: ", "))"
  }
}
