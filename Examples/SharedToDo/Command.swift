import Foundation

/// What a line asks for.
enum Command {
  case add(String)
  case done(Int)
  case rename(Int, String)
  case step(Int, String)
  case count(Int, by: Int)
  case delete(Int)
  case offline
  case online
  case wait
  case list
  case ping(times: Int)
  case figures
  case help
  case quit

  static let helpText = """
    add TEXT       adds an item
    done N         marks the item with the number N as done
    rename N TEXT  gives an item another text
    step N TEXT    adds a step to an item
    count N [BY]   adds a vote to an item, or so many
    delete N       deletes an item
    offline        stops syncing
    online         begins again
    list           shows the items; so does an empty line
    wait           waits until the server has all that is here, and all that the server has is here
    ping [TIMES]   writes something for other programs, which measure how long it takes until they see it
    figures        shows what was written here (up), what others wrote (down), and how long pings took
    quit           ends the program
    """

  /// - Throws: `Refusal` where the line is no command, or lacks something.
  init(_ line: String) throws {
    var words = Words(line)
    switch words.next() ?? "list" {
    case "add": self = .add(try words.text())
    case "done": self = .done(try words.number())
    case "rename": self = .rename(try words.number(), try words.text())
    case "step": self = .step(try words.number(), try words.text())
    case "count": self = .count(try words.number(), by: try words.number(in: -1_000...1_000, default: 1))
    case "delete": self = .delete(try words.number())
    case "offline": self = .offline
    case "online": self = .online
    case "wait": self = .wait
    case "list": self = .list
    case "ping": self = .ping(times: try words.number(in: 1...1_000, default: 50))
    case "figures": self = .figures
    case "help": self = .help
    case "quit": self = .quit
    case let other: throw Refusal("'\(other)' is no command; 'help' shows those that there are.")
    }
  }
}

/// Why a command is not carried out.
struct Refusal: LocalizedError {
  let errorDescription: String?

  init(_ text: String) { errorDescription = text }
}

/// A line that is read word by word.
private struct Words {
  private var rest: Substring

  init(_ line: String) { rest = line.drop { $0 == " " } }

  mutating func next() -> String? {
    guard !rest.isEmpty else { return nil }
    let word = String(rest.prefix { $0 != " " })
    rest = rest.dropFirst(word.count).drop { $0 == " " }
    return word
  }

  /// - Parameter usual: the number where the line has none; nil where it has to have one.
  mutating func number(in range: ClosedRange<Int> = 1...1_000_000, default usual: Int? = nil) throws -> Int {
    guard let word = next() else {
      if let usual { return usual }
      throw Refusal("A number is missing; 'help' shows what each command takes.")
    }
    guard let number = Int(word), range.contains(number) else {
      throw Refusal("'\(word)' is no number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  /// All that is left.
  func text() throws -> String {
    guard !rest.isEmpty else {
      throw Refusal("A text is missing; 'help' shows what each command takes.")
    }
    return String(rest)
  }
}
