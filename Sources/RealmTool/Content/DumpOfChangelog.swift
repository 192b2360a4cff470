import ArgumentParser
import RealmInterchange
import RealmStorage

/// Writes the changesets of a synced file as text for people.
extension Dump {
  func dumpChangelog(_ snapshot: Snapshot) throws {
    guard let changelog = try snapshot.changelog() else {
      throw ValidationError("\(options.file) is not synced: nothing is recorded in it.")
    }
    var left = limit ?? .max
    var failure: (any Error)?
    try changelog.forEach(snapshot) { stored in
      guard left > 0 else { return false }
      left -= 1
      do {
        try Self.dump(stored, Changeset(bytes: stored.bytes))
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  private static func dump(_ stored: StoredChangeset, _ changeset: Changeset) throws {
    let base = stored.base.map { "version \($0)" } ?? "none"
    let time = Wording.time(stored.stamp.milliseconds * 1_000_000)
    try Output.line("changeset \(stored.sequence) of \(time), base: \(base)")
    for instruction in changeset.schema { try Output.line("  \(instruction.text)") }
    for object in changeset.objects {
      for instruction in object.instructions { try Output.line("  \(object.id.text): \(instruction.text)") }
    }
  }
}

extension ObjectName {
  fileprivate var text: String { "\(table) \(key.text)" }
}

extension SchemaInstruction {
  fileprivate var text: String {
    switch self {
    case .addTable(let table, let key):
      "add \(table)" + (key.map { ", told apart by \($0.text)" } ?? ", embedded")
    case .addProperty(let table, let property): "add \(table).\(property.text)"
    }
  }
}

extension PropertyDefinition {
  fileprivate var text: String {
    let kind = collection.map { "\($0) of " } ?? ""
    return "\(name): \(kind)\(target ?? "\(type)")\(isOptional ? "?" : "")"
  }
}

extension Instruction {
  fileprivate var text: String {
    switch self {
    case .create: "create"
    case .delete: "delete"
    case .set(let path, .absent, _): "remove \(path.text)"
    case .set(let path, let value, let isDefault):
      "set \(path.text) = \(value.text)\(isDefault ? " (default)" : "")"
    case .add(let path, let delta): "add \(delta) to \(path.text)"
    case .newEmbedded(let path): "make \(path.text)"
    case .killEmbedded(let path): "remove \(path.text)"
    case .insert(let path, let id, let left, _, let value):
      "insert \(value.text) into \(path.text) as \(id.text) behind \(left.text)"
    case .move(let path, let element, _, let left, _):
      "move \(element.text) of \(path.text) behind \(left.text)"
    case .erase(let path, let id): "erase \(id.text) from \(path.text)"
    case .setInsert(let path, let value): "insert \(value.text) into \(path.text)"
    case .setErase(let path, let value): "erase \(value.text) from \(path.text)"
    case .clear(let path, _): "empty \(path.text)"
    case .ingest(let names, let values):
      "send " + zip(names, values).map { "\($0): \($1.text)" }.joined(separator: ", ")
    }
  }
}

extension InstructionPath {
  fileprivate var text: String {
    steps.reduce(property) { text, step in
      switch step {
      case .property(let name): "\(text).\(name)"
      case .key(let key): "\(text)[\(JSON.string(key))]"
      case .element(let id): "\(text)[\(id.text)]"
      case .collection: text
      }
    }
  }
}

extension ElementID {
  fileprivate var text: String { self == .none ? "nothing" : "#\(replica).\(counter)" }
}

extension InstructionValue {
  fileprivate var text: String {
    switch self {
    case .absent: "nothing"
    case .value(let value): value.text
    case .link(let object): "->\(object.text)"
    case .collection(let kind): "an empty \(kind)"
    case .list(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
    case .map(let keys, let values):
      "{" + zip(keys, values).map { "\(JSON.string($0)): \($1.text)" }.joined(separator: ", ") + "}"
    case .embedded: "an embedded object"
    case .chunked(_, let length, let isText): "\(isText ? "text" : "data") of \(length) bytes"
    }
  }
}
