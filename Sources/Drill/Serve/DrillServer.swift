import Console
import Credentials
import Emulator
import Platform

/// An emulator for a server that runs and does not end: clients of the console begin drills, one after the other, and each is answered
/// with its verdict.
///
///     let server = try DrillServer(DrillOptions(command: []), signals: DrillSignals())
///     try server.run { print($0) }
package final class DrillServer {
  private let options: DrillOptions
  private let folder: TemporaryFolder?
  private let signals: DrillSignals
  private let place: DrillEmulator
  private let desk: DrillDesk
  /// Runs so far, as a count.
  private var runs = 0
  /// Kept until the next one, by when its phones are gone.
  private var stage: DrillStage?

  /// Opens the listeners. Without `keep` nothing is captured, and only warnings are logged, on standard error.
  ///
  /// - Parameter portsFile: where the addresses are written to; nil for where all else lies.
  package init(_ options: DrillOptions, portsFile: String? = nil, signals: DrillSignals) throws {
    (self.options, self.signals) = (options, signals)
    let folder = try options.keep == nil ? TemporaryFolder(in: options.scratch) : nil
    self.folder = folder
    let desk = try DrillDesk(DrillEmulator.topic)
    self.desk = desk
    do {
      let files = try DrillFolder(options.keep ?? folder?.path ?? "")
      place = try DrillEmulator(
        TemporaryCredentials(in: options.scratch), in: files, signals, drills: desk
      ) { emulator in
        if let portsFile { emulator.files.ports = portsFile }
        guard options.keep == nil else { return }
        (emulator.log.file, emulator.log.level, emulator.capture) = (nil, .warning, nil)
      }
    } catch {
      folder?.remove()
      throw error
    }
  }

  deinit { folder?.remove() }

  /// Runs what is asked for until a signal comes, and ends the emulator. To be called once.
  ///
  /// - Parameter announce: is given the variables that the server has to be started with, by name.
  package func run(announcing announce: ([String: String]) throws -> Void) throws {
    defer { place.end() }
    try announce(place.variables(usesProxy: options.usesProxy))
    while signals.received == nil {
      _ = place.emulator.loop.turn(
        until: { signals.received != nil || place.emulator.failure != nil || desk.asked != nil }, within: .max
      )
      if let failure = place.emulator.failure { throw failure }
      if let asked = desk.asked { serve(asked) }
    }
  }

  private func serve(_ asked: ServedRun) {
    do {
      desk.finish(.success(try verdict(on: asked).outcome))
    } catch is DrillAbandoned {
      desk.finish(.failure(.goesAway))
    } catch is DrillInterrupted {
      desk.finish(.failure(.goesAway))
    } catch {
      desk.finish(.failure(.failed("\(error)")))
    }
  }

  private func verdict(on asked: ServedRun) throws -> DrillResult {
    place.startOver()
    runs += 1
    let pushes = asked.drill.map(options.pushes(of:)) ?? options.pushes
    let stage = try DrillStage(place, pushes: pushes, asked.drill?.tokens ?? .allGood, run: runs)
    self.stage = stage
    defer { stage.end() }
    var run = DrillRun(stage, asked.drill)
    guard let baseline = desk.baseline, asked.drill != nil else {
      desk.baseline = nil
      try run.run(asked, against: nil, limit: asked.limit)
      desk.baseline = run.baseline
      return run.result(against: nil)
    }
    try run.run(asked, against: baseline, limit: asked.limit)
    return run.result(against: baseline)
  }
}
