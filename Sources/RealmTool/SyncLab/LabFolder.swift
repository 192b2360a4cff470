import Foundation
import RealmInterchange
import RealmServer

/// The files of a lab: a realm file of the server, a realm file of each device, and two short text files with the facts
/// that are in no realm file.
struct LabFolder {
  let path: String

  /// Makes the folder if it does not exist.
  init(_ path: String) throws {
    self.path = path
    do {
      try FileManager.default.createDirectory(atPath: saved, withIntermediateDirectories: true)
    } catch {
      throw LabProblem(
        "The folder \(path) can't be made: \(error.localizedDescription)",
        "Name a folder that you may write to.")
    }
  }

  var server: String { path + "/server.realm" }
  private var saved: String { path + "/saved" }

  func device(_ name: String) -> String { "\(path)/\(name).realm" }

  func saved(_ name: String) -> String { "\(saved)/\(name).realm" }

  func exists(_ file: String) -> Bool { FileManager.default.fileExists(atPath: file) }

  /// A text of the engine without the path of the folder, so that the output does not depend on where the folder is.
  func shown(_ text: String) -> String { text.replacing(path + "/", with: "") }

  // MARK: - Texts

  /// The lines of a text file as words; none if there is no such file.
  private func lines(_ file: String) throws -> [LabWords] {
    guard exists(file) else { return [] }
    guard let bytes = FileManager.default.contents(atPath: file) else {
      throw LabProblem("\(shown(file)) can't be read.", "Look who may read it.")
    }
    return try String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
      let tokens = try LabTokenReader.tokens(of: String(line))
      return tokens.isEmpty ? nil : LabWords(tokens, form: "in \(shown(file)): a line as the lab writes it")
    }
  }

  private func write(_ lines: [String], to file: String) throws {
    do {
      let head = "# This belongs to a folder of realm sync-lab, which writes it anew after each change.\n"
      try Data((head + lines.map { $0 + "\n" }.joined()).utf8).write(
        to: URL(filePath: file), options: .atomic)
    } catch {
      throw LabProblem(
        "\(shown(file)) can't be written: \(error.localizedDescription)",
        "Look at the folder and at the room on the disk.")
    }
  }

  private var deviceList: String { path + "/devices.txt" }

  func devices() throws -> [LabDevice.Facts] {
    var found: [LabDevice.Facts] = []
    for var words in try lines(deviceList) {
      if words.take("device") {
        let name = try words.name("a device")
        try words.expect("as")
        var facts = LabDevice.Facts(name: name, user: try words.name("a user"))
        facts.showsOthers = !words.take("only")
        facts.isOnline = !words.take("offline")
        found.append(facts)
      } else {
        try words.expect("subscription")
        let name = try words.name("a device")
        guard let place = found.firstIndex(where: { $0.name == name }) else {
          throw words.problem("There is no device \(name).")
        }
        let table = try words.name("a class")
        let predicate = words.take("none") ? nil : try words.text("a predicate")
        found[place].subscriptions.append(LabSubscription(table: table, predicate: predicate))
      }
      try words.expectEnd()
    }
    return found
  }

  func write(_ devices: [LabDevice.Facts]) throws {
    var lines: [String] = []
    for facts in devices {
      lines.append(
        "device \(facts.name) as \(facts.user)" + (facts.showsOthers ? "" : " only")
          + (facts.isOnline ? "" : " offline"))
      for subscription in facts.subscriptions {
        let predicate = subscription.predicate.map(JSON.escaped) ?? "none"
        lines.append("subscription \(facts.name) \(subscription.table) \(predicate)")
      }
    }
    try write(lines, to: deviceList)
  }

  /// The settings of the server that are not in its file. A saved copy has its own settings.
  func settings(of file: String) throws -> LabSettings {
    var settings = LabSettings()
    for var words in try lines(file + ".txt") {
      if words.take("field") {
        let table = try words.name("a class")
        settings.add(try words.name("a property"), of: table)
      } else {
        try words.expect("rule")
        let table = try words.name("a class")
        guard let right = LabRule.Right(rawValue: try words.name("'read' or 'write'")) else {
          throw words.problem("There is no such right.")
        }
        settings.add(LabRule(table: table, right: right, predicate: try words.text("a predicate")))
      }
      try words.expectEnd()
    }
    return settings
  }

  func write(_ settings: LabSettings, of file: String) throws {
    var lines: [String] = []
    for (table, properties) in settings.fields.sorted(by: { $0.key < $1.key }) {
      for property in properties { lines.append("field \(table) \(property)") }
    }
    for rule in settings.rules {
      lines.append("rule \(rule.table) \(rule.right.rawValue) \(JSON.escaped(rule.predicate))")
    }
    try write(lines, to: file + ".txt")
  }
}

/// The settings of the server of a lab that are not in its file.
struct LabSettings: Equatable {
  /// The properties that filters may use, by class. New properties are added at the end, because the server's history
  /// has their values in this order.
  var fields: [String: [String]] = [:]
  var rules: [LabRule] = []

  var ofServer: ServerState.Settings { ServerState.Settings(fields: fields) }

  mutating func add(_ property: String, of table: String) {
    guard fields[table]?.contains(property) != true else { return }
    fields[table, default: []].append(property)
  }

  mutating func add(_ rule: LabRule) {
    rules.removeAll { $0.table == rule.table && $0.right == rule.right }
    rules.append(rule)
  }
}

extension JSON {
  /// A text in quotation marks, in the form that the lab reads.
  fileprivate static func escaped(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        quoted += "\\"
        quoted.unicodeScalars.append(scalar)
      case _ where mayMislead(scalar): quoted += "\\u{\(String(scalar.value, radix: 16))}"
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
