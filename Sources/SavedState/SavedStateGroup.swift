import Basics
import Broker
import Console
import ConsoleAnswers
import Faults
import PushModel
import Transport

/// Everything that an emulator knows, out as one document and in again.
package final class SavedStateGroup: RouteGroup {
  private let live: LiveState
  private let slices: SliceScheduler
  private let events: OwnEvents
  private let background: (any BesideLoop)?
  /// The document that is being imported: one at a time. Kept, so that it goes on when the client is gone.
  private var importing: StateImport?

  /// `background` reads long documents; without it, that is done on the loop.
  package init(
    _ live: LiveState, _ slices: SliceScheduler, _ events: OwnEvents, background: (any BesideLoop)?
  ) {
    (self.live, self.slices, self.events, self.background) = (live, slices, events, background)
  }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/export", "Exports all that this emulator knows as one document, without private keys",
        .document { [live] _ in try StateExport(live: live).document() }
      )
      .refuses(409).answers(200, "The state", SavedState.schema),
      .post(
        "/api/v1/import", "Imports a document of `export`; importing it twice is the same as once",
        .exchange { [unowned self] in try importState($0, $1) }
      )
      .spread.needs(SavedState.schema).takes(upTo: .state).refuses(409)
      .answers(200, "The number of imported entries of each kind", StateImport.Counts.shape.schema),
    ]
  }

  /// Something is reset, which an import would bring back.
  package func willReset() {
    importing?.end(because: StateImport.wasReset)
  }

  package func shutDown() {
    importing?.end(
      because: .unavailable("the emulator shut down before the whole document was imported; import it again"))
  }

  /// `POST /api/v1/import`: one document at a time.
  private func importState(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    guard importing == nil else { throw ConsoleError.busy("another document is being imported") }
    let run = StateImport(live, slices) { [weak self] result in
      guard let self else { return }
      importing = nil
      exchange.refusing {
        let counts = try result.get()
        events.publish("reset", [("what", ["import"])])
        exchange.answer(HTTPResponse(json: StateImport.Counts.shape.write(counts)))
      }
    }
    importing = run
    do { try run.begin(request.http.body, request.bodyLimit, background) } catch {
      importing = nil
      throw error
    }
  }
}

/// What a saved state is written from and imported into: the parts of an emulator that a document tells of.
package struct LiveState {
  let broker: Broker
  /// Meant where a document does not say.
  let environment: Environment
  let clock: any ClockControl
  let faults: FaultEngine
  let credentials: any CredentialIssuer

  package init(
    _ broker: Broker, _ environment: Environment, _ clock: any ClockControl, _ faults: FaultEngine,
    _ credentials: any CredentialIssuer
  ) {
    (self.broker, self.environment, self.clock) = (broker, environment, clock)
    (self.faults, self.credentials) = (faults, credentials)
  }
}

/// Loading a saved state where there is no console to ask.
package enum SeedData {
  /// Largest document, in bytes: as long as an answer that `export` takes.
  package static let limit = 1 << 30

  /// Reads a document, which may be larger than what is imported at once, and makes the emulator know what it says. Throws what says
  /// why it can't be loaded: which member, what was expected, what it is.
  package static func load(_ bytes: [UInt8], into live: LiveState) throws {
    try StateImport.runWhole(SavedState(JSONObject(body: bytes), environment: live.environment), live)
  }
}

extension StateImport.Counts {
  static let shape = JSONShape<StateImport.Counts>(["imported": .show(as: counts) { $0 }]).named("Imported")

  private static let counts: JSONShape<StateImport.Counts> = [
    "apps": .show(1) { $0.apps }, "keys": .show { $0.keys }, "devices": .show(1) { $0.devices },
    "tokens": .show(1) { $0.tokens }, "messages": .show { $0.messages }, "channels": .show { $0.channels },
    "subscriptions": .show { $0.subscriptions }, "faults": .show { $0.faults },
  ]
}
