import RealmInterchange
import RealmStorage

extension ComparedValue {
  // MARK: - For people

  /// The value as a short text on one line.
  var text: String {
    switch self {
    case .value(let value): value.shortText
    case .object(let table, let key): "\(table) \(key.shortText)"
    case .row(let table, let key): "\(table) row \(key)"
    case .embedded(let entries):
      "{" + entries.map { "\($0.name) \($0.value.text)" }.joined(separator: ", ") + "}"
    case .list(let elements), .set(let elements):
      "[" + Self.short(elements.map(\.text)).joined(separator: ", ") + "]"
    case .map(let entries):
      "{" + Self.short(entries.map { "\(JSON.string($0.name)): \($0.value.text)" }).joined(separator: ", ")
        + "}"
    }
  }

  /// The texts of elements, cut to as many as fit on a line.
  private static func short(_ elements: [String]) -> [String] {
    elements.count <= 6 ? elements : elements.prefix(5) + ["… (\(elements.count))"]
  }

  /// The change of the value of a property: the value before and after, or for collections the number of elements that
  /// were added, removed and changed.
  func changeText(_ name: String, from old: ComparedValue?) -> String {
    switch (old, self) {
    case (.list(let old)?, .list(let new)):
      let changes = ListChanges(from: old, to: new)
      return "\(name): " + Self.counts(changes.insertions.count, changes.deletions.count)
    case (.set(let old)?, .set(let new)):
      let (before, after) = (Set(old), Set(new))
      return "\(name): " + Self.counts(after.subtracting(before).count, before.subtracting(after).count)
    case (.map(let old)?, .map(let new)): return "\(name): " + Self.counts(old, new)
    case (.embedded(let old)?, .embedded(let new)) where old.count == new.count:
      return zip(old, new).filter { $0 != $1 }
        .map { $1.value.changeText("\(name).\($1.name)", from: $0.value) }.joined(separator: ", ")
    default: return "\(name) \(old?.text ?? "") → \(text)"
    }
  }

  private static func counts(_ old: [Entry], _ new: [Entry]) -> String {
    // Keys differ if their bytes differ.
    let before = Dictionary(old.map { (Array($0.name.utf8), $0.value) }) { first, _ in first }
    let after = Dictionary(new.map { (Array($0.name.utf8), $0.value) }) { first, _ in first }
    let added = after.keys.count { before[$0] == nil }
    let removed = before.keys.count { after[$0] == nil }
    let changed = before.count { key, value in after[key].map { $0 != value } ?? false }
    return counts(added, removed, changed)
  }

  private static func counts(_ added: Int, _ removed: Int, _ changed: Int = 0) -> String {
    let words = [(added, "+"), (removed, "−"), (changed, "~")].filter { $0.0 > 0 }.map { "\($1)\($0)" }
    return words.joined(separator: " ")
  }

  // MARK: - JSON

  /// The value of a column in the form that docs/dump-format.md describes, except links and embedded objects.
  func json(of column: Column) -> String {
    switch self {
    case .list(let elements), .set(let elements):
      guard column.isCollection else { return json(ofOne: column.type) }
      return JSON.array(elements.map { $0.json(ofOne: column.type) })
    case .map(let entries):
      guard column.isCollection else { return json(ofOne: column.type) }
      return Self.json(entries) { $0.value.json(ofOne: column.type) }
    default: return json(ofOne: column.type)
    }
  }

  private func json(ofOne type: ColumnType) -> String {
    switch self {
    case .value(let value): value.json(ofOne: type, TableNames([]))
    case .object(let table, let key):
      JSON.object([("$object", JSON.array([JSON.string(table), key.jsonOfKey]))])
    case .row(let table, let key):
      JSON.object([("$link", JSON.array([JSON.string(table), JSON.integer(key)]))])
    case .embedded(let entries):
      JSON.object([
        (
          "$embedded",
          Self.json(entries) { entry in
            entry.column.map { entry.value.json(of: $0) } ?? entry.value.json(ofOne: type)
          }
        )
      ])
    case .list(let elements), .set(let elements): JSON.array(elements.map { $0.json(ofOne: type) })
    case .map(let entries): JSON.object([("$map", Self.json(entries) { $0.value.json(ofOne: type) })])
    }
  }

  /// Entries as an array of pairs of a name and a value.
  private static func json(_ entries: [Entry], _ value: (Entry) -> String) -> String {
    JSON.array(entries.map { JSON.array([JSON.string($0.name), value($0)]) })
  }
}

extension Value {
  /// The value as a text, cut if it is a string of more than 60 characters.
  var shortText: String {
    let most = 60
    if case .string(let text) = self, text.utf8.count > most, text.count > most {
      return JSON.string(String(text.prefix(most))) + "…"
    }
    return text
  }

  /// The value as JSON, in the form of a primary key of its type.
  var jsonOfKey: String {
    let type: ColumnType =
      switch self {
      case .int: .int64
      case .string: .string
      case .bool: .bool
      case .date: .date
      case .objectID: .objectID
      case .uuid: .uuid
      default: .string
      }
    return json(ofOne: type, TableNames([]))
  }
}
