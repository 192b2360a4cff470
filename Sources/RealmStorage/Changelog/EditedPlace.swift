/// A place in an object into which an instruction is merged.
package struct EditedPlace {
  /// The kind of content of a place.
  package enum Kind: Sendable {
    /// A value or a link. To merging, a list or map in a mixed value is such a value, too.
    case register
    case embedded
    case list
    case set
    case map

    init(_ place: ObjectEditor.Place, isEmbedded: Bool) {
      guard place.isWhole else {
        self = isEmbedded ? .embedded : .register
        return
      }
      self =
        switch place.column.collection {
        case .none: isEmbedded ? .embedded : .register
        case .list: .list
        case .set: .set
        case .map: .map
        }
    }
  }

  /// An embedded object or a collection, below the object, in which the place lies.
  package struct Container {
    package var kind: Kind
    /// The number of bytes of the container's key. The key of the place begins with them.
    package var keyLength: Int
  }

  package let kind: Kind
  /// The bytes that name the place in its object. They begin with the keys of all containers in which the place lies.
  package private(set) var key: [UInt8] = []
  /// The containers from the outermost to the innermost. Each of them is in the file.
  package private(set) var containers: [Container] = []
  /// The id of the element if the place is an element of a list.
  package let element: ElementID?
  let place: ObjectEditor.Place
  let editor: ObjectEditor

  /// The greatest number of bytes of a key. The keys of an ordered tree have a limit, and the key of the object and
  /// other bytes are put around the key of a place.
  private static let mostKeyBytes = 800

  init?(
    _ path: InstructionPath, _ table: TableWriter, _ row: UInt64, _ editor: ObjectEditor
  ) throws(StorageError) {
    var place = ObjectEditor.Place(table: table, position: try table.property(path.property), row: row)
    try Self.checkDepth(path, place)
    var (key, containers) = ([UInt8](), [Container]())
    key.appendHighestFirst(place.column.id)
    for step in path.steps {
      let isEmbedded = try place.table.linksToEmbedded(place.column)
      let kind = Kind(place, isEmbedded: isEmbedded)
      guard key.count <= Self.mostKeyBytes else { throw place.table.doesNotFit(.tooDeep, place.column) }
      containers.append(Container(kind: kind, keyLength: key.count))
      switch (step, kind) {
      case (.key(let text), .map):
        key.append(Step.key)
        Self.append(text, to: &key)
        place.part = step
      case (.element(let id), .list):
        guard try SyncedList(place: place, editor.collections).find(id) != nil else { return nil }
        key.append(Step.element)
        key.appendHighestFirst(id.stored)
        place.part = step
      case (.property(let name), .embedded):
        guard case .link(let row)? = try editor.value(place) else { return nil }
        guard let target = try editor.tables.writer(id: place.column.target) else {
          throw place.table.doesNotFit(.wrongKind, place.column)
        }
        place = ObjectEditor.Place(table: target, position: try target.property(name), row: row)
        key.append(Step.property)
        key.appendHighestFirst(place.column.id)
      default: throw place.table.doesNotFit(.wrongKind, place.column)
      }
    }
    kind = Kind(place, isEmbedded: try place.table.linksToEmbedded(place.column))
    element = if case .element(let id)? = place.part { id } else { nil }
    (self.key, self.containers, self.place, self.editor) = (key, containers, place, editor)
  }

  /// Throws if the path is so long that the paths of what is put at the place would be too long.
  private static func checkDepth(
    _ path: InstructionPath, _ place: ObjectEditor.Place
  ) throws(StorageError) {
    guard path.steps.count < InstructionPath.mostSteps - 1 else {
      throw place.table.doesNotFit(.tooDeep, place.column)
    }
  }

  /// The place to which a path would lead if everything on the way were in the file. The returned place has no key and
  /// no containers.
  ///
  /// - Throws: `.instructionDoesNotFit` for a path that no object of the table can have; `.corrupted`.
  static func form(
    of path: InstructionPath, _ table: TableWriter, _ editor: ObjectEditor
  ) throws(StorageError) -> EditedPlace {
    var place = ObjectEditor.Place(table: table, position: try table.property(path.property), row: 0)
    try checkDepth(path, place)
    for step in path.steps {
      switch (step, Kind(place, isEmbedded: try place.table.linksToEmbedded(place.column))) {
      case (.key, .map), (.element, .list): place.part = step
      case (.property(let name), .embedded):
        guard let target = try editor.tables.writer(id: place.column.target) else {
          throw place.table.doesNotFit(.wrongKind, place.column)
        }
        place = ObjectEditor.Place(table: target, position: try target.property(name), row: 0)
      default: throw place.table.doesNotFit(.wrongKind, place.column)
      }
    }
    return EditedPlace(place, isEmbedded: try place.table.linksToEmbedded(place.column), editor)
  }

  private init(_ place: ObjectEditor.Place, isEmbedded: Bool, _ editor: ObjectEditor) {
    kind = Kind(place, isEmbedded: isEmbedded)
    element = if case .element(let id)? = place.part { id } else { nil }
    (self.place, self.editor) = (place, editor)
  }

  /// The id of the column if the place is a property of the object itself that holds one value; nil for all other
  /// places.
  package var property: UInt16? {
    containers.isEmpty && kind == .register && place.isWhole ? place.column.id : nil
  }

  private enum Step {
    static let property: UInt8 = 1
    static let key: UInt8 = 2
    static let element: UInt8 = 3
  }

  /// The length of the key of an object and of the key of a place in it, at the beginning of the bytes; nil if the
  /// bytes do not begin with the key of an object.
  package static func keyLength(in bytes: [UInt8]) -> Int? {
    guard bytes.count > 4 else { return nil }
    var end = 5
    func text() -> Int? {
      guard end < bytes.count else { return nil }
      return 1 + (bytes[end] == .max ? ChangesetTag.hashLength : Int(bytes[end]))
    }
    switch bytes[4] {
    case 0: break
    case 1: end += 8
    case 2:
      guard let length = text() else { return nil }
      end += length
    case 3: end += 16
    case 4: end += 12
    default: return nil
    }
    guard end < bytes.count else { return end == bytes.count ? end : nil }
    end += 2
    while end < bytes.count, bytes[end] < firstFreeByte {
      let step = bytes[end]
      end += 1
      switch step {
      case Step.property: end += 2
      case Step.element: end += 8
      case Step.key:
        guard let length = text() else { return nil }
        end += length
      default: return nil
      }
    }
    return end <= bytes.count ? end : nil
  }

  /// Steps of places begin with bytes below this one. What is added to the key of a place, to name something that
  /// belongs to it, begins with this byte or a greater one.
  private static let firstFreeByte: UInt8 = 16

  /// Appends a text. A long text is replaced by its hash.
  static func append(_ text: String, to bytes: inout [UInt8]) {
    let utf8 = Array(text.utf8)
    guard utf8.count > ChangesetTag.hashLength else {
      bytes.append(UInt8(utf8.count))
      bytes += utf8
      return
    }
    bytes.append(.max)
    bytes += utf8.contentHash
  }

  // MARK: - What stands there

  /// True if an embedded object stands in the place.
  package func hasEmbedded() throws(StorageError) -> Bool {
    if case .link? = try editor.value(place) { true } else { false }
  }

  /// The number in the place, if numbers can be added to it; otherwise nil.
  package func integer() throws(StorageError) -> Int64? {
    guard place.column.type == .int64 || place.column.type == .mixed else { return nil }
    return if case .int(let number)? = try editor.value(place) { number } else { nil }
  }

  /// True if the value may be an element of the list in the place.
  ///
  /// - Throws: `.corrupted`.
  package func acceptsElement(_ value: InstructionValue) throws(StorageError) -> Bool {
    if try place.table.linksToEmbedded(place.column) { return value == .embedded }
    return value == .absent ? false : try accepts(value)
  }

  /// True if the value may stand in the place, or in the set that stands there.
  ///
  /// - Throws: `.corrupted`.
  package func accepts(_ value: InstructionValue) throws(StorageError) -> Bool {
    if case .absent = value { return if case .key? = place.part { true } else { false } }
    do throws(StorageError) {
      _ = try editor.content(of: value, place)
      return true
    } catch {
      guard case .instructionDoesNotFit = error else { throw error }
      return false
    }
  }

  /// The list in the place, with its hidden elements.
  package func list() throws(StorageError) -> EditedList {
    EditedList(list: try SyncedList(place: place, editor.collections))
  }

  /// The bytes that name a member of the set in the place.
  package func key(ofMember value: InstructionValue) -> [UInt8] {
    var stream = ChangesetStream()
    stream.begin(ObjectName("", .null))
    stream.append(.setInsert(InstructionPath(""), value))
    return stream.finish().contentHash
  }
}

/// A list in the order of all its elements. They include the hidden ones, which link to objects that are not in the
/// file.
package struct EditedList {
  let list: SyncedList

  package func count() throws(StorageError) -> Int { try list.countOfAll() }

  /// The rank of an element; nil if there is none. Takes time in proportion to the list, except for the last elements.
  package func rank(of element: ElementID) throws(StorageError) -> Int? { try list.rank(of: element) }

  /// The rank of the element that was moved to a place; nil if there is none.
  package func rank(ofPlace id: ElementID) throws(StorageError) -> Int? { try list.rank(ofPlace: id) }

  /// The element at a rank: its id, and the id of the place to which it was moved, or its own id if it was never moved.
  ///
  /// - Precondition: the rank lies in the list.
  package func element(at rank: Int) throws(StorageError) -> (id: ElementID, place: ElementID) {
    try list.ids(at: rank)
  }
}
