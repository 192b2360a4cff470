/// The changes that one transaction, or a part of a large one, made to the objects of a synced file. Changesets are
/// decided and sent as a whole. A changeset can be read without a file.
///
/// Objects are named by class and primary key, properties by the names of their columns, and elements of lists by ids.
/// So a changeset means the same in every file of the same data. The changes of an object are in the order in which
/// they were made. The changes of different objects do not depend on their order.
package struct Changeset: Sendable, Equatable {
  package var schema: [SchemaInstruction] = []
  /// The changed objects. Each stands here once, in the order of their first changes.
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

/// The name of an object in all files of the same data.
package struct ObjectName: Sendable, Hashable {
  package var table: String
  /// The primary key: a whole number, a text, a UUID, an object id, or null.
  package var key: Value

  package init(_ table: String, _ key: Value) { (self.table, self.key) = (table, key) }

  // Names are compared by bytes, because two names may be equal in Unicode and differ in their bytes.
  package static func == (left: ObjectName, right: ObjectName) -> Bool {
    left.key == right.key && left.table.utf8.elementsEqual(right.table.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in table.utf8 { hasher.combine(byte) }
    hasher.combine(key)
  }
}

/// The permanent name of a list element: the replica that inserted it, and the number of that insertion.
package struct ElementID: Sendable, Hashable {
  /// The number that this file gave to the replica. 1 is this file.
  package var replica: UInt32
  package var counter: UInt32

  package init(replica: UInt32, counter: UInt32) { (self.replica, self.counter) = (replica, counter) }

  /// The id that stands for the beginning of a list as a left neighbour, and for its end as a right neighbour.
  package static let none = ElementID(replica: 0, counter: 0)

  /// The number of this file as a replica.
  package static let own: UInt32 = 1

  /// Reads an id in the form in which the column of the element ids stores it.
  package init(stored: UInt64) {
    self.init(replica: UInt32(stored >> 32), counter: UInt32(truncatingIfNeeded: stored))
  }

  package var stored: UInt64 { UInt64(replica) << 32 | UInt64(counter) }

  /// True if a list can hold an element with this id.
  package var isValid: Bool { AbsentLink.elementIDs.contains(stored) }
}

/// The place in an object at which a change was made.
package struct InstructionPath: Sendable, Hashable {
  package enum Step: Sendable, Hashable {
    /// A property of an embedded object.
    case property(String)
    /// A key of a map.
    case key(String)
    /// An element of a list.
    case element(ElementID)
    /// The list or map that stands in a value of any type. `made` is the sequence of the changeset that made the value
    /// a list or map, if that is a changeset of this file that is not acknowledged yet.
    case collection(CollectionKind, made: UInt64?)
  }

  package var property: String
  package var steps: [Step]

  /// The greatest number of steps of a path. Values of any type and embedded objects are not nested deeper.
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
  /// Nothing: the entry of a map is removed.
  case absent
  /// A value that is not a link, a list or a map.
  case value(Value)
  case link(ObjectName)
  /// An empty list or map in a place for values of any type. Instructions fill it.
  case collection(CollectionKind)
  /// A list in a place for values of any type, with its whole content. To merging it is one value.
  indirect case list([InstructionValue])
  /// A map in such a place, with its whole content: keys and values, in the order of the keys' bytes. To merging it is
  /// one value.
  indirect case map([String], [InstructionValue])
  /// An embedded object. Instructions fill it.
  case embedded
  /// A long string or data, which is stored and sent apart from the changeset. `hash` is its BLAKE2b of 32 bytes.
  case chunked(hash: [UInt8], length: UInt32, isText: Bool)
}

/// A single change. The rules of merging say what it does if others changed the same place meanwhile.
package enum Instruction: Sendable, Equatable {
  case create
  case delete
  /// - isDefault: true for a property to which the program gave no value when it made the object.
  case set(InstructionPath, InstructionValue, isDefault: Bool)
  case add(InstructionPath, Int64)
  case newEmbedded(InstructionPath)
  case killEmbedded(InstructionPath)
  /// Inserts an element. `left` and `right` are the neighbours that the writer saw.
  case insert(InstructionPath, ElementID, left: ElementID, right: ElementID, InstructionValue)
  case move(InstructionPath, ElementID, id: ElementID, left: ElementID, right: ElementID)
  case erase(InstructionPath, ElementID)
  case setInsert(InstructionPath, InstructionValue)
  case setErase(InstructionPath, InstructionValue)
  case clear(InstructionPath, CollectionKind)
  /// An asymmetric object, which is sent and not kept: the names of its properties and their values.
  case ingest([String], [InstructionValue])
}

extension Instruction {
  package var isMove: Bool { if case .move = self { true } else { false } }

  /// The place that is changed; nil for an instruction about the whole object.
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
  /// - key: the property that tells objects apart; nil for a class of embedded objects.
  case addTable(String, key: PropertyDefinition?)
  case addProperty(table: String, PropertyDefinition)
}

package struct PropertyDefinition: Sendable, Hashable {
  package var name: String
  package var type: ColumnType
  /// The kind of collection; nil for a property with a single value.
  package var collection: CollectionKind?
  /// The table to which links lead.
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
