/// Flags that help shows together, under a heading.
struct FlagGroup: Sendable {
  /// Empty for the only group of a command.
  let heading: String
  let flags: [any FlagDescription]

  init(_ heading: String, _ flags: [any FlagDescription]) { (self.heading, self.flags) = (heading, flags) }

  /// The same group with other flags in the place of those that have their names.
  func replacing(_ others: [any FlagDescription]) -> FlagGroup {
    FlagGroup(heading, flags.map { flag in others.first { $0.name == flag.name } ?? flag })
  }
}
