import ArgumentParser

/// When a client tells that it has committed.
enum Durability: String, ExpressibleByArgument, Sendable {
  /// The commit outlives a loss of power.
  case full
  /// The commit outlives the process; the disk is waited for later, for several commits at once.
  case relaxed
}
