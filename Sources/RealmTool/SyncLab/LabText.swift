import RealmInterchange
import RealmStorage
import RealmSync
import RealmSyncClient

/// Texts of the lab for errors, refusals and changesets.
extension ClientProblem {
  /// The error that the tool prints: the error of the engine, or a problem with a remedy.
  var thrown: any Error {
    if case .storage(let error) = self { return error }
    return LabProblem(description, "Type `log` for what went before.")
  }
}

extension Refusal {
  var text: String { "\(subject.text): \(reason.text)" }
}

extension Refusal.Subject {
  fileprivate var text: String {
    switch self {
    case .object(let name): name.labText
    case .table(let table): "the class \(table)"
    case .property(let table, let property): "the property \(table).\(property)"
    }
  }
}

extension Refusal.Reason {
  fileprivate var text: String {
    switch self {
    case .keyInUse: "somebody else has made an object of that key, which the device did not see"
    case .outsideQuerySet: "no query of the device would show the object that it made"
    case .notPermitted: "the rules do not let the user read or write it, as it was or as it would be"
    case .schemaMismatch: "others have defined the class or the property in another way"
    case .tooLarge: "it is larger than the server can keep"
    }
  }
}

extension ObjectName {
  var labText: String { "\(table) \(key.text)" }
}

extension LabDevice {
  /// The lines that describe a pending changeset.
  static func text(_ stored: StoredChangeset, sequence: UInt64) throws(ChangesetDamage) -> [String] {
    let changeset = try Changeset(bytes: stored.bytes)
    let base = stored.base.map { "written upon version \($0)" } ?? "written before the file was registered"
    var lines = ["changeset \(sequence), \(base)"]
    lines += changeset.schema.map { "  \($0.labText)" }
    for object in changeset.objects {
      lines += object.instructions.map { "  \(object.id.labText): \($0.labText)" }
    }
    return lines
  }
}

extension SchemaInstruction {
  fileprivate var labText: String {
    switch self {
    case .addTable(let table, let key):
      "define the class \(table)" + (key.map { ", told apart by \($0.name)" } ?? ", embedded")
    case .addProperty(let table, let property):
      "define \(table).\(property.name): \(property.collection.map { "\($0) of " } ?? "")\(property.type)"
    }
  }
}

extension Instruction {
  fileprivate var labText: String {
    switch self {
    case .create: "create"
    case .delete: "delete"
    case .set(let path, let value, let isDefault):
      "set \(path.labText) = \(value.labText)\(isDefault ? " (by default)" : "")"
    case .add(let path, let delta): "add \(delta) to \(path.labText)"
    case .insert(let path, let id, let left, _, let value):
      "insert \(value.labText) into \(path.labText) as \(id.labText), \(left.placeText)"
    case .move(let path, let element, _, let left, _):
      "move \(element.labText) of \(path.labText), \(left.placeText)"
    case .erase(let path, let id): "remove \(id.labText) from \(path.labText)"
    case .clear(let path, _): "empty \(path.labText)"
    case .newEmbedded(let path): "make \(path.labText)"
    case .killEmbedded(let path): "remove \(path.labText)"
    case .setInsert(let path, let value): "insert \(value.labText) into \(path.labText)"
    case .setErase(let path, let value): "remove \(value.labText) from \(path.labText)"
    case .ingest: "send once, and keep nothing"
    }
  }
}

extension InstructionPath {
  /// The path as a text. Objects that the lab makes have only properties, so that other steps are not spelled out.
  fileprivate var labText: String { steps.isEmpty ? property : property + " (within)" }
}

extension ElementID {
  /// The number of the element's replica in the file, and the number of its insertion.
  fileprivate var labText: String { "#\(replica).\(counter)" }

  fileprivate var placeText: String { self == .none ? "at the front" : "behind \(labText)" }
}

extension InstructionValue {
  fileprivate var labText: String {
    switch self {
    case .value(let value): value.shortText
    case .link(let object): object.labText
    case .chunked(_, let length, let isText): "\(isText ? "a text" : "data") of \(length) bytes"
    case .absent: "nothing"
    case .collection(let kind): "an empty \(kind)"
    case .list(let elements): "a list of \(elements.count)"
    case .map(let keys, _): "a map of \(keys.count)"
    case .embedded: "an embedded object"
    }
  }
}
