import RealmTestSupport
import Testing

@testable import RealmStorage

/// A tree of a set or map, and the value that it must agree with.
struct CollectionModel {
  let column: Column
  let shape: TreeShape
  let editor: NodeEditor
  var root = Ref.null
  /// The elements if the column is a set.
  private(set) var elements: [Value] = []
  /// The entries if the column is a map.
  private(set) var map = ValueMap()

  init(_ column: Column, _ editor: NodeEditor, shape: TreeShape = .tiny) {
    self.column = column
    self.shape = shape
    self.editor = editor
  }

  private var isMap: Bool { column.collection == .map }
  var value: Value { isMap ? .map(map) : .list(elements) }
  var count: Int { isMap ? map.count : elements.count }

  // MARK: - Changes

  mutating func add(_ generator: inout SeededGenerator) throws {
    guard isMap else { return try insert(RandomElement.element(column, &generator)) }
    let isOld = count > 0 && generator.chance(20)
    let key = isOld ? map.keys[generator.below(count)] : RandomElement.key(&generator)
    try set(RandomElement.mapValue(column, &generator), for: key)
  }

  mutating func insert(_ element: Value) throws {
    let place = place(of: element)
    let inserted = try SortedTree.insert(element, into: root, of: column, shape: shape, editor: editor)
    #expect(inserted.isNew == !place.isThere, "\(element)")
    if !place.isThere { elements.insert(element, at: place.index) }
    root = inserted.root
  }

  mutating func set(_ value: Value, for key: String) throws {
    let set = try SortedTree.set(value, for: key, in: root, of: column, shape: shape, editor: editor)
    #expect(set.old == map[key], "\(key.prefix(40))")
    map[key] = value
    root = set.root
  }

  mutating func remove(_ generator: inout SeededGenerator) throws {
    let index = generator.below(count)
    guard isMap else {
      let element = elements.remove(at: index)
      // An equal element of another type finds the element, too.
      let removed = try SortedTree.remove(
        RandomElement.equal(to: element, column), from: root, of: column, shape: shape, editor: editor)
      #expect(removed.removed == element)
      root = removed.root
      return
    }
    let key = map.keys[index]
    let removed = try SortedTree.removeValue(for: key, from: root, of: column, shape: shape, editor: editor)
    #expect(removed.old == map[key])
    map[key] = nil
    root = removed.root
  }

  /// Removes an element or a key that does not exist.
  func removeNone(_ generator: inout SeededGenerator) throws {
    if isMap {
      let key = RandomElement.key(&generator)
      guard map[key] == nil else { return }
      let removed = try SortedTree.removeValue(for: key, from: root, of: column, shape: shape, editor: editor)
      #expect(removed.root == root)
      #expect(removed.old == nil)
    } else {
      let element = RandomElement.element(column, &generator)
      guard !place(of: element).isThere else { return }
      let removed = try SortedTree.remove(element, from: root, of: column, shape: shape, editor: editor)
      #expect(removed.root == root)
      #expect(removed.removed == nil)
    }
  }

  /// Adds elements to a set at once.
  mutating func insert(_ added: [Value]) throws {
    let inserted = try SortedTree.insert(added, into: root, of: column, shape: shape, editor: editor)
    root = inserted.root
    let new = (Value.set(added).elements ?? []).filter { !place(of: $0).isThere }
    #expect(inserted.added == new)
    elements = Value.set(elements + added).elements ?? []
  }

  mutating func unlink(_ targets: Set<LinkTarget>) throws {
    let unlinked = try SortedTree.unlink(targets, in: root, of: column, shape: shape, editor: editor)
    var expected: [LinkTarget: UInt64] = [:]
    for link in value.linkTargets(of: column) where targets.contains(link) { expected[link, default: 0] += 1 }
    #expect(unlinked.removed == expected)
    root = unlinked.root
    switch value.unlinked(targets, of: column) {
    case .map(let map, _): self.map = map
    case let value: elements = value.elements ?? []
    }
  }

  // MARK: - What must hold

  /// Compares the results of all reads of the tree with the expected content.
  func verify(_ generator: inout SeededGenerator) throws {
    let access = editor.access()
    let all = try SortedTree.all(root, of: column, access)
    #expect(all == value, "\(column.type) \(column.collection)")
    let count = try SortedTree.count(root, access)
    #expect(count == UInt64(self.count))
    let checked = try SortedTree.check(root, of: column, EditorReader(editor))
    #expect(checked == count)
    try TreeNodes.expectOneDepth(root, access)
    try TreeNodes.expectLimits(root, shape, access)
    try verifyMemory(access)
    try verifyEntries(access, &generator)
    try verifyInlineLength(access)
    for _ in 0..<6 { try verifyLookUp(access, &generator) }
    let built = try SortedTree.build(value, of: column, shape: shape, editor: editor)
    let (entries, others) = (try entries(built, access), try entries(root, access))
    #expect(entries == others)
    try SortedTree.free(built, editor: editor)
  }

  /// The stored keys and values, including the values that stand apart.
  private func entries(_ root: Ref, _ access: borrowing NodeAccess) throws -> [[[UInt8]]] {
    var entries: [[[UInt8]]] = []
    try SortedTree.forEachStored(in: root, access) { (key, value) throws(StorageError) in
      entries.append([key, try value.contents(access)])
      return true
    }
    return entries
  }

  /// Expects that the live nodes are just those of the tree, so that none was forgotten or freed too early.
  private func verifyMemory(_ access: borrowing NodeAccess) throws {
    let nodes = try TreeNodes.all(root, access)
    let bytes = nodes.reduce(0) { $0 + ($1.length + Ref.unit - 1) / Ref.unit * Ref.unit }
    let alive = editor.arena.liveBytes
    #expect(bytes == alive)
    let places = Set(nodes.map(\.unit)).count
    #expect(places == nodes.count)
  }

  private func entry(_ index: Int) -> SortedEntry {
    isMap
      ? SortedEntry(key: map.keys[index], value: map.values[index])
      : SortedEntry(key: nil, value: elements[index])
  }

  private func verifyEntries(_ access: borrowing NodeAccess, _ generator: inout SeededGenerator) throws {
    for position in [0, count / 2, count - 1, generator.below(count + 1)] where (0..<count).contains(position)
    {
      let found = try SortedTree.entry(at: UInt64(position), in: root, of: column, access)
      #expect(found == entry(position))
    }
    let none = try SortedTree.entry(at: UInt64(count), in: root, of: column, access)
    #expect(none == nil)
    let (start, limit) = (generator.below(count + 1), generator.below(count + 1))
    var (place, seen) = (start, 0)
    try SortedTree.forEach(in: root, of: column, from: UInt64(start), access) { found in
      #expect(found == entry(place))
      (place, seen) = (place + 1, seen + 1)
      return seen < limit
    }
    #expect(seen == min(max(limit, 1), count - start))
  }

  private func verifyInlineLength(_ access: borrowing NodeAccess) throws {
    let length = try #require(CompositeCell.encode(value, of: column)).count
    for limit in [length, length + 1, 1 << 40] {
      let found = try SortedTree.inlineLength(root, of: column, atMost: limit, access)
      #expect(found == length)
    }
    for limit in [length - 1, length / 2, 0] where limit < length {
      let found = try SortedTree.inlineLength(root, of: column, atMost: limit, access)
      #expect(found == nil)
    }
  }

  private func verifyLookUp(_ access: borrowing NodeAccess, _ generator: inout SeededGenerator) throws {
    let isOld = count > 0 && generator.chance(50)
    guard isMap else {
      let element =
        isOld ? elements[generator.below(count)] : RandomElement.element(column, &generator)
      let place = place(of: element)
      let isThere = try SortedTree.contains(element, in: root, of: column, access)
      #expect(isThere == place.isThere, "\(element)")
      let position = try SortedTree.position(of: element, in: root, of: column, access)
      #expect(position == (UInt64(place.index), place.isThere), "\(element)")
      let found = try SortedTree.element(equalTo: element, in: root, of: column, access)
      #expect(found == (place.isThere ? elements[place.index] : nil))
      return
    }
    let key = isOld ? map.keys[generator.below(count)] : RandomElement.key(&generator)
    let found = try SortedTree.value(of: key, in: root, of: column, access)
    #expect(found == map[key])
    let place = map.keys.firstIndex { !$0.utf8.lexicographicallyPrecedes(key.utf8) } ?? count
    let position = try SortedTree.position(ofKey: key, in: root, of: column, access)
    #expect(position == (UInt64(place), map[key] != nil))
  }

  private func place(of element: Value) -> (index: Int, isThere: Bool) {
    let index = elements.firstIndex { !Value.isBefore($0, element) } ?? elements.count
    return (index, index < elements.count && !Value.isBefore(element, elements[index]))
  }
}

/// Random elements of few kinds. Many of them are equal, have the same double, or have the same bytes in their keys.
enum RandomElement {
  static let types = ColumnType.allCases

  /// Columns of sets and maps of all types, optional or not.
  static let columns: [Column] = types.flatMap { type in
    [ColumnCollection.set, .map].flatMap { collection in
      // Some types are always optional or never, so a set removes duplicate columns.
      Set([false, true].map { Column("c", type, isOptional: $0, collection: collection, target: 3) })
    }
  }

  static func element(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if column.isOptional, generator.chance(5) { return .null }
    return one(column.type, &generator)
  }

  static func mapValue(_ column: Column, _ generator: inout SeededGenerator) -> Value {
    if column.isOptional, generator.chance(15) { return .null }
    guard column.type == .mixed, generator.chance(20) else { return one(column.type, &generator) }
    let parts = (0..<generator.below(4)).map { _ in element(column, &generator) }
    let id = UInt64(1 + generator.below(1000))
    guard generator.chance(50) else { return .list(parts, id: id) }
    return .map(ValueMap(entries: parts.enumerated().map { ("\($0.offset)", $0.element) }), id: id)
  }

  /// A possibly different value that a set treats as equal.
  static func equal(to element: Value, _ column: Column) -> Value {
    switch (column.type, element) {
    case (.double, .double(0)): .double(-0.0)
    case (.float, .float(0)): .float(-0.0)
    case (.double, .double(let number)) where number.isNaN: .double(.nan)
    case (.mixed, .int(let number)): .decimal128(DecimalNumber(number).stored)
    case (.mixed, .double(let number)): .decimal128(ValueOrder.decimal(number).stored)
    default: element
    }
  }

  static func key(_ generator: inout SeededGenerator) -> String {
    generator.chance(60) ? "key \(generator.below(60))" : text(&generator)
  }

  static func text(_ generator: inout SeededGenerator) -> String {
    let long = String(repeating: "x", count: 999)
    return switch generator.below(9) {
    // The last byte that fits into the key may be the first byte of a character.
    case 0: long + ["", "a", "é", "x", "xx", "xé", "xa", "xb"][generator.below(8)]
    case 1: long + "x" + String(generator.below(40))
    case 2: long + "xyz" + String(repeating: "y", count: generator.below(3) * 70) + "\(generator.below(5))"
    // The length of these texts takes one byte or two.
    case 3: String(repeating: ["z", "ü"][generator.below(2)], count: generator.below(135))
    case 4: ["", "\0", "\0\0", "a\0", "é", "e\u{301}", "b"][generator.below(7)]
    default: String(generator.below(200))
    }
  }

  private static func number(_ type: ColumnType, _ generator: inout SeededGenerator) -> Value {
    let near: [Double] = [
      0, 0.1, 1.5, 3, 0x1p53, 0x1p63, 1e22, .leastNonzeroMagnitude, 1e308, .infinity, 7e-5,
    ]
    var double = near[generator.below(near.count)]
    if generator.chance(30) { double = double.nextUp }
    if generator.chance(30) { double = -double }
    if generator.chance(5) { double = Double(bitPattern: 0x7ff8_0000_0000_0000 | UInt64(generator.below(4))) }
    switch type {
    case .int64:
      return .int((Int64(exactly: double) ?? (double < 0 ? .min : .max)) &+ Int64(generator.below(4)))
    case .float: return .float(Float(double))
    case .double: return .double(double)
    default:
      let texts = [
        "1", "1.0", "1.00", "-1", "-1.0", "0", "-0", "0.1", "0.10", "NaN", "Infinity", "-Infinity", "1E+6000",
        "2E+6000", "-1E+6000", "1E-6000", "-1E-6000", "-2E-6000", "9007199254740992", "9007199254740992.5",
        "9007199254740993", "9007199254740993.0", "-9007199254740993", "0.1000000000000000000000000000000001",
        "0.09999999999999999999999999999999999", "9223372036854775807", "9223372036854775808", "1E-6176",
        "9.999999999999999999999999999999999E+6144", "-0.1000000000000000000000000000000001", "1E308",
        "5e-324",
      ]
      guard generator.chance(80) else { return .decimal128(DecimalNumber(double).stored) }
      return .decimal128((DecimalNumber(parsing: texts[generator.below(texts.count)]) ?? .nan).stored)
    }
  }

  static func one(_ type: ColumnType, _ generator: inout SeededGenerator) -> Value {
    switch type {
    case .bool: return .bool(generator.chance(50))
    case .int64 where generator.chance(60): return .int(Int64(generator.below(200) - 100))
    case .int64, .decimal128: return number(type, &generator)
    case .float where generator.chance(60): return .float(Float(generator.below(300)) / 8)
    case .double where generator.chance(60): return .double(Double(generator.below(300)) / 7)
    case .float, .double: return number(type, &generator)
    case .string: return .string(text(&generator))
    case .data:
      return .data(generator.chance(30) ? generator.bytes(generator.below(3)) : Array(text(&generator).utf8))
    case .date:
      let seconds = generator.chance(5) ? Int64.min : Int64(generator.below(50) - 25)
      return .date(Timestamp(seconds: seconds, nanoseconds: Int32([0, 1, 999_999_999][generator.below(3)])))
    case .objectID:
      return .objectID(
        ObjectIDBytes(high: UInt64(generator.below(2)) << 63, low: UInt32(generator.below(100))))
    case .uuid:
      return .uuid(SixteenBytes(high: UInt64(generator.below(2)) << 63, low: UInt64(generator.below(100))))
    case .link: return .link(generator.chance(5) ? .max : UInt64(generator.below(150)))
    case .mixed:
      guard generator.chance(20) else { return one(types[generator.below(10)], &generator) }
      return .typedLink(table: UInt32(generator.below(5)), row: UInt64(generator.below(30)))
    }
  }
}

extension ValueOrder {
  /// The decimal that is compared in place of a double.
  static func decimal(_ number: Double) -> DecimalNumber { DecimalNumber(.double(number)) ?? .nan }
}
