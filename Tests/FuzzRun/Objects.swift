import Foundation
import RealmStorage
import RealmTestSupport

/// A damaged realm of objects is used like an app uses it. What it reads must be right, or an error is thrown, or the
/// program stops with a message that says why. A stop ends a process, so the states run in another process.
struct Objects {
  let key: [UInt8]?

  func run(_ part: Part) throws {
    try withTemporaryPath { path in
      try ObjectSample.make(path, key)
      var (first, stops) = (0, 0)
      while true {
        let arguments =
          ["--object-worker", path, "--first-state", "\(first)", "--seed", "\(part.seed)"]
          + (part.isQuick ? ["--quick"] : []) + (key == nil ? [] : ["--encrypted"])
        switch try outcome(of: Child(arguments), part) {
        case .stopped(let state):
          stops += 1
          first = state + 1
        case .finished(let count):
          part.figures = [("stops", stops)]
          part.add(states: count)
          return
        }
      }
    }
  }

  private enum Outcome {
    case stopped(atState: Int)
    case finished(states: Int)
  }

  private func outcome(of child: Child, _ part: Part) throws -> Outcome {
    var state = "no state"
    while true {
      let line: String
      do {
        line = try child.line()
      } catch let violation as Violation {
        throw Violation("\(part.name), \(state), seed \(part.seed): \(violation.what)")
      }
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      switch words[0] {
      case "state": state = line
      case "stopped": return .stopped(atState: Int(words[1]) ?? 0)
      case "finished": return .finished(states: Int(words[1]) ?? 0)
      default: throw Violation("\(part.name), \(state), seed \(part.seed): \(line)")
      }
    }
  }
}

/// A damage that is done to a file.
enum Damage {
  case flip(offset: Int, by: UInt8)
  case truncation(length: Int)
  case garbage(length: Int)
  case forgery(Int)

  /// The states of a run. They are the same for the same file and seed.
  static func list(_ bytes: [UInt8], isEncrypted: Bool, seed: UInt64, isQuick: Bool) -> [Damage] {
    var generator = SeededGenerator(seed: seed)
    var list: [Damage] = []
    // In unused parts of the file one byte is like the next, so only some of these bytes are changed.
    for offset in bytes.indices where bytes[offset] != 0 || generator.below(10) == 0 {
      if isQuick, generator.below(isEncrypted ? 60 : 30) > 0 { continue }
      list.append(.flip(offset: offset, by: UInt8(1 + generator.below(255))))
    }
    for end in stride(from: 0, to: bytes.count, by: FilePlace.page) {
      // A file of no bytes is not damaged, because it becomes a new realm.
      for length in [end - 1, end, end + 1] where length > 0 && length < bytes.count {
        list.append(.truncation(length: length))
      }
    }
    for length in [1, 100, 4096, 8192, 20_000, 100_000] { list.append(.garbage(length: length)) }
    if !isEncrypted { list += (0..<(isQuick ? 500 : 20_000)).map { .forgery($0) } }
    return list
  }

  func apply(to bytes: [UInt8], seed: UInt64) throws -> [UInt8] {
    switch self {
    case .flip(let offset, let difference):
      var bytes = bytes
      bytes[offset] ^= difference
      return bytes
    case .truncation(let length): return Array(bytes[..<length])
    case .garbage(let length):
      var generator = SeededGenerator(seed: seed &+ UInt64(length))
      return generator.bytes(length)
    case .forgery(let number):
      var generator = SeededGenerator(seed: seed &+ UInt64(number))
      var forge = try Forge(bytes)
      for _ in 0...generator.below(3) { forge.mutate(&generator) }
      if generator.chance(40) { forge.makeUnclean(durable: UInt64(generator.below(3))) }
      return forge.bytes
    }
  }

  /// True if everything that can be read must be what was written.
  var keepsContent: Bool { if case .forgery = self { false } else { true } }
}
