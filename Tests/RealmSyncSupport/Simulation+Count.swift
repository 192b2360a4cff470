extension Simulation {
  /// Counts of what has happened in a run.
  package struct Count {
    package var steps = 0
    package var commits = 0
    package var uploads = 0
    package var refusals = 0
    package var applied = 0
    package var effects = 0
    package var whole = 0
    package var left = 0
    package var deleted = 0
    package var trims = 0
    package var restarts = 0
    package var broken = 0
    package var predictions = 0
    package var resets = 0
    package var powerLosses = 0
    package var copies = 0
    package var restores = 0
    /// Counts of how the server decided instructions.
    package var decided = DecidedInstructions()

    package init() {}

    private static let fields: [(String, WritableKeyPath<Count, Int> & Sendable)] = [
      ("steps", \.steps), ("commits", \.commits), ("uploads", \.uploads), ("refusals", \.refusals),
      ("applied", \.applied), ("effects", \.effects), ("whole", \.whole), ("left", \.left),
      ("deleted", \.deleted), ("trims", \.trims), ("restarts", \.restarts), ("broken", \.broken),
      ("predictions", \.predictions), ("resets", \.resets), ("powerlosses", \.powerLosses),
      ("copies", \.copies), ("restores", \.restores),
    ]

    /// The line that a run prints.
    package var text: String { Self.fields.map { "\($0.0)=\(self[keyPath: $0.1])" }.joined(separator: " ") }

    package static func += (left: inout Count, right: Count) {
      for (_, path) in fields { left[keyPath: path] += right[keyPath: path] }
      left.decided += right.decided
    }
  }
}
