#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Something that must not happen in a state.
package struct Violation: Error {
  package let what: String

  package init(_ what: String) { self.what = what }
}

/// One part of the run. It counts its states, and says in which state something went wrong.
package final class Part {
  package let name: String
  package let seed: UInt64
  package let isQuick: Bool
  /// Other figures of the part, besides its states.
  package var figures: [(name: String, value: Int)] = []
  private let start: UInt64
  private var states = 0

  package init(name: String, seed: UInt64, isQuick: Bool) {
    self.name = name
    self.seed = seed
    self.isQuick = isQuick
    start = name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  /// Runs the parts whose name starts with `prefix`, and prints a summary of each. Returns false if a part threw a
  /// violation, or if there is no such part.
  package static func runAll(
    _ parts: [(name: String, body: (Part) throws -> Void)], startingWith prefix: String,
    named group: String = "",
    seed: UInt64, isQuick: Bool
  ) throws -> Bool {
    let chosen = parts.filter { $0.name.hasPrefix(prefix) }
    do {
      guard !chosen.isEmpty else { throw Violation("There is no part whose name starts with \(prefix).") }
      for (name, body) in chosen {
        let part = Part(name: group + name, seed: seed, isQuick: isQuick)
        try body(part)
        print(part.summary)
        // The lines are written now, so that a later abort does not lose them.
        fflush(nil)
      }
      return true
    } catch let violation as Violation {
      print(violation.what)
      return false
    }
  }

  package var summary: String {
    let more = figures.map { "\($0.name)=\($0.value) " }.joined()
    return "\(name) states=\(states) \(more)lost=0 wrong=0 hung=0 seed=\(seed)"
  }

  /// Random numbers for one state. They are the same for the same seed, whatever ran before.
  package func generator(_ number: Int) -> SeededGenerator { SeededGenerator(seed: start &+ UInt64(number)) }

  /// Runs a state. `place` identifies the state within the part.
  package func state(_ place: @autoclosure () -> String, _ body: () throws -> Void) throws {
    let label = "\(name), \(place()), seed \(seed)"
    Alarm.shared.begin(label)
    defer { Alarm.shared.end() }
    do {
      try body()
    } catch let violation as Violation {
      throw Violation("\(label): \(violation.what)")
    } catch {
      throw Violation("\(label): an error that has no place here: \(error)")
    }
    states += 1
  }

  /// Adds states that another process ran for this one.
  package func add(states count: Int) { states += count }
}
