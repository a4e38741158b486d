import Advice

/// One thing that goes wrong on purpose, and what a good provider comes to.
package struct Drill: Sendable {
  /// Its id, as `--only` takes it.
  package let id: String
}
