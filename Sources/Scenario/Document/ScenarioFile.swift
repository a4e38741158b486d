import Basics

/// A scenario with where all that it says stands in its file.
package struct ScenarioFile: Sendable {
  /// As it was named.
  package let path: String
  package let scenario: Scenario
  let places: JSONPlaces

  /// - Throws: `ScenarioFileError` with file, line and column.
  package init(path: String, text: [UInt8]) throws(ScenarioFileError) {
    self.path = path
    places = JSONPlaces(text)
    if let problem = places.problem {
      throw ScenarioFileError(
        path, problem.place, "expected \(problem.expected), got \(DocumentError.quoted(problem.found))")
    }
    do {
      var scenario = Scenario()
      try Scenario.form.read(JSONObject(body: text), into: &scenario)
      self.scenario = scenario
    } catch {
      let error = error as? DocumentError ?? DocumentError("\(error)")
      throw ScenarioFileError(path, places[error], error.description)
    }
  }

  func place(ofStep index: Int, _ member: String? = nil) -> JSONPlaces.Place {
    places["steps[\(index)]" + (member.map { ".\($0)" } ?? "")]
  }
}

/// A file is no scenario: file, line and column, and a lower-case sentence with what was expected and what came.
package struct ScenarioFileError: Error, Equatable, CustomStringConvertible {
  package let path: String
  package let place: JSONPlaces.Place
  package let sentence: String

  init(_ path: String, _ place: JSONPlaces.Place, _ sentence: String) {
    (self.path, self.place, self.sentence) = (path, place, sentence)
  }

  package var description: String { "\(path):\(place): \(sentence)" }
}
