import Basics
import Broker
import Transport

extension Console {
  /// `GET /api/v1/export`
  func exportState(_ request: ConsoleRequest) throws -> GrowingDocument {
    return try StateExport(context: context).document()
  }

  /// `POST /api/v1/import`: one document at a time.
  func importState(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    guard importing == nil else { throw ConsoleError.busy("another document is being imported") }
    let run = DocumentImport { [weak self] result in
      guard let self else { return }
      importing = nil
      exchange.refusing {
        let counts = try result.get()
        publish("reset", [("what", ["import"])])
        exchange.answer(HTTPResponse(json: StateImport.Counts.shape.write(counts)))
      }
    }
    importing = run
    do { try run.begin(request.http.body, request.bodyLimit, context, slices) } catch {
      importing = nil
      throw error
    }
  }
}

/// One document from its bytes to the answer. Kept by the console, so that it goes on when the client is gone.
///
///     reading (a long one beside the loop) ─→ `StateImport` ─→ done
final class DocumentImport {
  /// Longest document that is read on the loop, in bytes: it takes some milliseconds.
  static let besideLoop = 256 << 10

  private let done: (Result<StateImport.Counts, any Error>) -> Void
  private var work: StateImport?
  private var isOver = false

  init(done: @escaping (Result<StateImport.Counts, any Error>) -> Void) { self.done = done }

  /// Throws if nothing was begun.
  func begin(
    _ body: [UInt8], _ limit: BodyLimit, _ context: ConsoleContext, _ slices: SliceScheduler
  ) throws {
    let environment = context.environment
    let read: @Sendable () -> Result<SavedState, any Error> = {
      Result {
        let document = try limit.read(body)
        try StateSize(document).check()
        return try SavedState(document, environment: environment)
      }
    }
    guard body.count > Self.besideLoop, let background = context.background else {
      return start(try read().get(), context, slices)
    }
    let isTaken = background.run(read) { [self] state in
      do { start(try state.get(), context, slices) } catch { finish(.failure(error)) }
    }
    guard isTaken else { throw ConsoleError.busy("too much is being done beside the loop") }
  }

  /// Lets the rest be.
  func end(because error: ConsoleError) {
    if let work { work.end(because: error) } else { finish(.failure(error)) }
  }

  private func start(_ state: SavedState, _ context: ConsoleContext, _ slices: SliceScheduler) {
    guard !isOver else { return }
    let work = StateImport(context, state, slices) { [unowned self] in finish($0) }
    self.work = work
    slices.add(work)
  }

  private func finish(_ result: Result<StateImport.Counts, any Error>) {
    guard !isOver else { return }
    isOver = true
    done(result)
  }
}

/// Loading a saved state where there is no console to ask.
package enum SeedData {
  /// Largest document, in bytes: as long as an answer that `export` takes.
  package static let limit = 1 << 30

  /// Why a document can't be loaded: which member, what was expected, what it is.
  package struct Failure: Error, CustomStringConvertible {
    package var description: String
  }

  /// Reads a document, which may be larger than what is imported at once, and makes the emulator know what it says.
  package static func load(_ bytes: [UInt8], into context: ConsoleContext) throws(Failure) {
    do {
      let state = try SavedState(JSONObject(body: bytes), environment: context.environment)
      let slices = SliceScheduler(makeTimer: context.makeTimer)
      _ = try StateImport(context, state, slices) { _ in }.runWhole()
    } catch {
      throw Failure(description: "\(error)")
    }
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
