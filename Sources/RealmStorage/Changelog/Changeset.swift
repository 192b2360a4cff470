/// The changes that one transaction, or a part of a large one, made to the objects of a synced file. Changesets are decided and sent as a whole. A changeset can be
/// read without a file.
///
/// Objects are named by class and primary key, properties by the names of their columns, elements of lists by ids. So it means the same in every file of the
/// same data. Changes of an object are in the order that they were made; changes of different objects do not depend on their order.
package struct Changeset: Sendable, Equatable {
  package var schema: [SchemaInstruction] = []
  /// Each object once, in the order in which they were changed first.
  package var objects: [ObjectInstructions] = []

  package init() {}
}

/// The changes of one object.
package struct ObjectInstructions: Sendable, Equatable {
  package var id: ObjectName
  package var instructions: [Instruction]

  package init(_ id: ObjectName, _ instructions: [Instruction]) {
    (self.id, self.instructions) = (id, instructions)
  }
}

/// Names an object in all files of the same data.
package struct ObjectName: Sendable, Hashable {
  package var table: String
  /// A whole number, text, UUID or object id, or null.
  package var key: Value

  package init(_ table: String, _ key: Value) { (self.table, self.key) = (table, key) }

  // By bytes: two names may be the same to Unicode and differ in their bytes.
  package static func == (left: ObjectName, right: ObjectName) -> Bool {
    left.key == right.key && left.table.utf8.elementsEqual(right.table.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in table.utf8 { hasher.combine(byte) }
    hasher.combine(key)
  }
}

/// Names an element of a list for ever: the replica that inserted it, and the number of that insertion.
package struct ElementID: Sendable, Hashable {
  /// The replica, by the number that this file gave it: 1 is this file.
  package var replica: UInt32
  package var counter: UInt32

  package init(replica: UInt32, counter: UInt32) { (self.replica, self.counter) = (replica, counter) }

  /// The id that stands for the place before the first element, and behind the last one.
  package static let none = ElementID(replica: 0, counter: 0)

  /// This file, as a replica.
  package static let own: UInt32 = 1

  /// As the column with the ids of a list's elements holds it.
  package init(stored: UInt64) {
    self.init(replica: UInt32(stored >> 32), counter: UInt32(truncatingIfNeeded: stored))
  }

  package var stored: UInt64 { UInt64(replica) << 32 | UInt64(counter) }

  /// Whether a list can hold an element of the id.
  package var isValid: Bool { AbsentLink.elementIDs.contains(stored) }
}

/// The place in an object that a change was made at.
package struct InstructionPath: Sendable, Hashable {
  package enum Step: Sendable, Hashable {
    /// A property of an embedded object.
    case property(String)
    /// A key of a map.
    case key(String)
    /// An element of a list.
    case element(ElementID)
    /// The list or map that a value of any type is; `made`: the sequence of the changeset that made it one, where that is this file's own and not yet acknowledged.
    case collection(CollectionKind, made: UInt64?)
  }

  package var property: String
  package var steps: [Step]

  /// A path has so many steps at most: values of any type and embedded objects stand in each other no deeper.
  package static let mostSteps = 256

  package init(_ property: String, _ steps: [Step] = []) { (self.property, self.steps) = (property, steps) }
}

package enum CollectionKind: UInt8, Sendable, Hashable {
  case list = 1
  case map = 2
  case set = 3
}

/// The content that an instruction gives to a place.
package enum InstructionValue: Sendable, Equatable {
  /// An entry of a map goes.
  case absent
  /// No link, list or map.
  case value(Value)
  case link(ObjectName)
  /// An empty list or map, of a place for values of any type, which is filled by instructions.
  case collection(CollectionKind)
  /// A list of a place for values of any type, with all that is in it: to merging it is one value.
  indirect case list([InstructionValue])
  /// A map of such a place, likewise: keys and values, in the order of the keys' bytes.
  indirect case map([String], [InstructionValue])
  /// An embedded object, which is filled by instructions.
  case embedded
  /// A long string or data, which is stored and sent apart from the changeset, by its hash: 32 bytes of BLAKE2b.
  case chunked(hash: [UInt8], length: UInt32, isText: Bool)
}

/// A single change. What it does where others changed the same place meanwhile is told by the rules of merging.
package enum Instruction: Sendable, Equatable {
  case create
  case delete
  /// - isDefault: of a property that the program did not give when it made the object.
  case set(InstructionPath, InstructionValue, isDefault: Bool)
  case add(InstructionPath, Int64)
  case newEmbedded(InstructionPath)
  case killEmbedded(InstructionPath)
  /// The ids are those of the neighbours that the writer saw.
  case insert(InstructionPath, ElementID, left: ElementID, right: ElementID, InstructionValue)
  case move(InstructionPath, ElementID, id: ElementID, left: ElementID, right: ElementID)
  case erase(InstructionPath, ElementID)
  case setInsert(InstructionPath, InstructionValue)
  case setErase(InstructionPath, InstructionValue)
  case clear(InstructionPath, CollectionKind)
  /// An asymmetric object, which is sent and not kept: its values by property.
  case ingest([String], [InstructionValue])
}

extension Instruction {
  package var isMove: Bool { if case .move = self { true } else { false } }

  /// The place that is changed; nil of what concerns the object as a whole.
  package var path: InstructionPath? {
    switch self {
    case .create, .delete, .ingest: nil
    case .set(let path, _, _), .add(let path, _), .newEmbedded(let path), .killEmbedded(let path),
      .insert(let path, _, _, _, _), .move(let path, _, _, _, _), .erase(let path, _),
      .setInsert(let path, _),
      .setErase(let path, _), .clear(let path, _):
      path
    }
  }
}

/// An addition to the schema. Definitions never change.
package enum SchemaInstruction: Sendable, Equatable {
  /// - key: the property that tells objects apart; nil of embedded ones.
  case addTable(String, key: PropertyDefinition?)
  case addProperty(table: String, PropertyDefinition)
}

package struct PropertyDefinition: Sendable, Hashable {
  package var name: String
  package var type: ColumnType
  /// The kind of collection; nil of a property with a single value.
  package var collection: CollectionKind?
  /// The table that links lead to.
  package var target: String?
  package var isOptional: Bool

  package init(
    _ name: String, _ type: ColumnType, collection: CollectionKind? = nil, target: String? = nil,
    isOptional: Bool = false
  ) {
    (self.name, self.type, self.collection) = (name, type, collection)
    (self.target, self.isOptional) = (target, isOptional)
  }
}
