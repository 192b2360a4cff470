import ArgumentParser

/// The time at which a client reports a commit.
enum Durability: String, ExpressibleByArgument, Sendable {
  /// The commit is reported when it outlives a loss of power.
  case full
  /// The commit is reported when it outlives the process. The disk is synced later, for several commits at once.
  case relaxed
}
