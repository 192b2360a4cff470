import ArgumentParser
import Foundation
import RealmStorage

struct Dump: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Prints the content, a line for each entry.",
    discussion: """
      With --json each line is a JSON object. Bytes that are text stand as strings; others as \
      {"$data": "..."} in base64. Nothing is lost: the lines are enough to build the content anew.
      """)

  @OptionGroup var options: FileOptions

  @Option(help: "Only the tree of this name.")
  var tree: String?

  @Flag(help: "JSON Lines.")
  var json = false

  @Option(help: "At most so many entries of each tree.")
  var limit: Int?

  func run() throws {
    let snapshot = try options.open().snapshot()
    let names = try snapshot.treeNames()
    if let tree, !names.contains(tree) {
      throw ValidationError("There is no tree '\(tree)'; `realm schema` lists them.")
    }
    for name in names where tree == nil || tree == name {
      var left = limit ?? Int.max
      guard left > 0 else { continue }
      try snapshot.tree(name).forEach { key, value in
        print(json ? Self.jsonLine(name, key, value) : "\(name)\t\(Self.text(key))\t\(Self.text(value))")
        left -= 1
        return left > 0
      }
    }
  }

  static func jsonLine(_ tree: String, _ key: [UInt8], _ value: [UInt8]) -> String {
    "{\"tree\":\(string(tree)),\"key\":\(json(key)),\"value\":\(json(value))}"
  }

  private static func json(_ bytes: [UInt8]) -> String {
    if let text = String(validating: bytes, as: UTF8.self) { return string(text) }
    return "{\"$data\":\"\(Data(bytes).base64EncodedString())\"}"
  }

  private static func string(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case "\r": quoted += "\\r"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7f || (0x2028...0x2029).contains(scalar.value) {
          quoted += String(format: "\\u%04x", scalar.value)
        } else {
          quoted.unicodeScalars.append(scalar)
        }
      }
    }
    return quoted + "\""
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self)?.replacingOccurrences(of: "\n", with: "\\n")
      ?? "base64:\(Data(bytes).base64EncodedString())"
  }
}
