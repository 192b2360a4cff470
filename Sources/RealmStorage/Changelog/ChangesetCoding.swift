/// The bytes of changesets in files and messages (FORMAT.md, "Changesets").
///
/// Numbers are varints. Texts are their length and their bytes. Single values are mixed values (`ValueCoding`). All
/// names of tables and properties stand at the beginning, and the items refer to them by their places.
enum ChangesetTag {
  static let end: UInt8 = 0
  static let create: UInt8 = 1
  static let delete: UInt8 = 2
  static let set: UInt8 = 3
  static let setDefault: UInt8 = 4
  static let add: UInt8 = 5
  static let newEmbedded: UInt8 = 6
  static let killEmbedded: UInt8 = 7
  static let insert: UInt8 = 8
  /// Elements that were inserted one behind another.
  static let insertRun: UInt8 = 9
  static let move: UInt8 = 10
  static let erase: UInt8 = 11
  static let setInsert: UInt8 = 12
  static let setErase: UInt8 = 13
  static let clear: UInt8 = 14
  static let ingest: UInt8 = 15
  /// The object that the instructions behind this item change.
  static let object: UInt8 = 16
  static let addTable: UInt8 = 17
  static let addProperty: UInt8 = 18

  static let property: UInt8 = 1
  static let key: UInt8 = 2
  static let element: UInt8 = 3
  static let collection: UInt8 = 4

  /// These tags follow the tags of mixed values.
  static let absent: UInt8 = 32
  static let link: UInt8 = 33
  static let emptyCollection: UInt8 = 34
  static let chunkedText: UInt8 = 35
  static let chunkedData: UInt8 = 36
  static let list: UInt8 = 37
  static let map: UInt8 = 38
  static let embedded: UInt8 = 39

  static let hashLength = 32
}

extension Changeset {
  /// The bytes that `init(bytes:)` reads. The maker of a changeset must take care that no path is longer than
  /// `InstructionPath.mostSteps`, that lists and maps are nested no deeper than `Value.mostLevels`, and that values are
  /// no links or collections. The reader refuses other changesets.
  package var bytes: [UInt8] {
    var stream = ChangesetStream()
    for instruction in schema { stream.append(instruction) }
    for object in objects {
      stream.begin(object.id)
      for instruction in object.instructions { stream.append(instruction) }
    }
    return stream.finish()
  }
}
