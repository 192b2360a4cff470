import Foundation
import Yams

/// Reads what a definition says by class.
extension DefinitionReader {
  /// The greatest number of classes, and of fields of a class.
  private static let mostNames = 200
  /// The greatest size of a predicate in bytes.
  private static let mostPredicateBytes = 8_192

  // MARK: - Names

  /// The name of a property.
  mutating func name(_ node: Node, _ owner: String) -> String? {
    guard let text = text(node, owner, "Write the name of a property."), check(text, at: Place(node), owner)
    else { return nil }
    return text
  }

  /// Whether classes and properties may have a name.
  ///
  /// Predicates can use such names without escapes.
  private mutating func check(_ name: String, at place: Place, _ owner: String) -> Bool {
    let isGood = name.unicodeScalars.enumerated().allSatisfy { position, scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "_": true
      case "0"..."9", "-": position > 0
      default:
        scalar.value >= 0xA0 && !scalar.properties.isWhitespace
      }
    }
    guard isGood, (1...255).contains(name.utf8.count) else {
      problems.add(
        at: place, "\(owner) can't have the name \(Wording.shown(name)).",
        "Names have 1 to 255 bytes. They begin with a letter or _, and have letters, digits, _ and -.")
      return false
    }
    return true
  }

  /// The entries of a mapping whose keys are classes.
  private mutating func classes(_ node: Node, _ owner: String) -> [Entry] {
    let entries = entries(node, owner, "class") ?? []
    if entries.count > Self.mostNames {
      problems.add(
        at: entries[Self.mostNames].place, "\(owner) has \(entries.count) classes.",
        "Remove some: \(Self.mostNames) are the most.")
    }
    var classes: [Entry] = []
    for entry in entries where check(entry.name, at: entry.place, "A class") { classes.append(entry) }
    return classes
  }

  // MARK: - Fields

  mutating func fields(_ node: Node, _ partition: String?) -> [String: [String]] {
    var fields: [String: [String]] = [:]
    /// The class and the place of each field that is the property of the partition.
    var mentions: [(table: String, place: Place)] = []
    for entry in classes(node, "'fields'") {
      let owner = "The fields of \(Wording.shown(entry.name))"
      let nodes = list(entry.value, owner, "Write a list of properties, such as [name, owner].") ?? []
      if nodes.count > Self.mostNames {
        problems.add(
          at: Place(nodes[Self.mostNames]),
          "The class \(Wording.shown(entry.name)) has \(nodes.count) fields.",
          "Remove some: \(Self.mostNames) are the most.")
      }
      var names: [String] = []
      // Names beyond the limit are not read, because each name is compared with those before it.
      for node in nodes.prefix(Self.mostNames) {
        guard let name = name(node, "A field of \(Wording.shown(entry.name))") else { continue }
        guard !names.contains(name) else {
          problems.add(
            at: Place(node), "The field \(Wording.shown(name)) of \(Wording.shown(entry.name)) stands twice.",
            "Remove one of them.")
          continue
        }
        names.append(name)
        if name == partition { mentions.append((entry.name, Place(node))) }
      }
      fields[entry.name] = names
    }
    let others = fields.keys.filter { name in !mentions.contains { $0.table == name } }
    if let mention = mentions.first, let other = others.min() {
      problems.add(
        at: mention.place,
        "The property of the partition is a field of \(Wording.shown(mention.table)), and not of "
          + "\(Wording.shown(other)).",
        "Remove it here: it is a field of every class, whether it is named or not.")
    }
    return fields
  }

  // MARK: - Rights

  /// - Parameter areFieldsKnown: true if the fields were read without problems. Predicates are checked only then,
  ///   because the check would otherwise complain of fields that are missing because of another problem.
  mutating func rights(
    _ node: Node, _ app: AppDefinition, areFieldsKnown: Bool, _ check: AppDefinition.PredicateCheck
  ) -> [String: AppDefinition.Rights] {
    var rights: [String: AppDefinition.Rights] = [:]
    for entry in classes(node, "'rights'") {
      let owner = "The class \(Wording.shown(entry.name))"
      guard let entries = entries(entry.value, "The rights of \(Wording.shown(entry.name))", "right") else {
        continue
      }
      let named = (app.fields[entry.name] ?? []).filter { $0 != app.partition }
      let fields = (app.partition.map { [$0] } ?? []) + named
      var rules: [String: AppDefinition.Rule] = [:]
      for (name, right) in known(entries, ["read", "write", "insert", "delete"], owner, "right") {
        guard let rule = rule(right, of: entry.name, hasPartition: app.partition != nil) else { continue }
        rules[name] = rule
        guard areFieldsKnown, let problem = check(rule.text, entry.name, fields) else { continue }
        problems.add(
          at: Place(right.value), problem.hasSuffix(".") ? problem : "\(problem).",
          "Correct the right '\(name)' of \(Wording.shown(entry.name)).")
      }
      rights[entry.name] = AppDefinition.Rights(
        read: rules["read"], write: rules["write"], insert: rules["insert"], delete: rules["delete"])
    }
    return rights
  }

  private mutating func rule(_ entry: Entry, of table: String, hasPartition: Bool) -> AppDefinition.Rule? {
    let owner = "The right '\(entry.name)' of \(Wording.shown(table))"
    let remedy = "Write true, false, or a predicate such as `owner == $user.id`."
    guard let content = self.text(entry.value, owner, remedy) else { return nil }
    let place = Place(entry.value)
    guard content.utf8.count <= Self.mostPredicateBytes else {
      problems.add(
        at: place, "\(owner) has \(content.utf8.count) bytes.",
        "Make it shorter: \(Self.mostPredicateBytes) bytes are the most.")
      return nil
    }
    let predicate = content.trimmingCharacters(in: .whitespacesAndNewlines)
    // An empty predicate would hold for every object. Nobody who leaves a right empty means that.
    guard !predicate.isEmpty else {
      refuse(entry.value, owner, remedy)
      return nil
    }
    if !hasPartition, Self.usesPartition(predicate) {
      problems.add(
        at: place, "\(owner) uses $partition, and the app has no partitions.",
        "Name the property of the partition by `partition: …`, or use another condition.")
      return nil
    }
    let text =
      switch predicate.lowercased() {
      case "true": "TRUEPREDICATE"
      case "false": "FALSEPREDICATE"
      default: predicate
      }
    return AppDefinition.Rule(text: text, line: place.line, column: place.column)
  }

  /// Whether a predicate contains `$partition`, and not only as a part of a longer name.
  private static func usesPartition(_ text: String) -> Bool {
    text.components(separatedBy: "$partition").dropFirst().contains { rest in
      guard let next = rest.first else { return true }
      return !(next.isLetter || next.isNumber || next == "_" || next == "-" || next == "$")
    }
  }
}
