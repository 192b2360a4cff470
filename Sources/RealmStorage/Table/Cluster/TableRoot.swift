/// The root node of a table: its rows, its indexes, the links to its rows, its dictionaries, and the next row key.
///
/// The body follows the refs of the trees that are not empty, in this order: rows, links to the table, links to rows
/// that are not there, indexes, dictionaries (FORMAT.md, "Table"):
///
///     offset  size  field
///          0     8  nextKey     the key of the next row; it never decreases
///          8     8  rows        the number of rows
///         16     2  trees       bit 0: rows, bit 1: links, bit 2: absent links; other bits: unknown trees
///         18     2  indexCount
///         20     2  dictionaryCount
///         22     2  parts       bit 0: `swept` follows the ids; other bits: unknown parts
///         24     8  nextNested  the id of the next nested collection
///         32   2·n  ids         the ids of the indexes, ascending
///              2·n  ids         the ids of the columns of the dictionaries, ascending
///                8  swept       only if bit 0 of `parts` is set
struct TableRoot: Equatable {
  var nextKey: UInt64 = 0
  var rows: UInt64 = 0
  /// The id of the next nested collection: at least 1, at most 2^62.
  var nextNested: UInt64 = 1
  /// Clusters whose rows all have keys less than this one hold no values of dropped columns. It is 0 if no columns are
  /// dropped.
  var swept: UInt64 = 0
  var clusters = Ref.null
  /// See `LinkIndex`.
  var links = Ref.null
  /// See `AbsentLinkIndex`.
  var absentLinks = Ref.null
  /// The indexes by their ids; see `IndexTree`. A table without rows has none.
  var indexes = ColumnTrees()
  /// The dictionaries by the ids of their columns; see `ColumnDictionary`.
  var dictionaries = ColumnTrees()

  enum Layout {
    static let nextKey = 0
    static let rows = 8
    static let trees = 16
    static let indexCount = 18
    static let dictionaryCount = 20
    static let parts = 22
    static let nextNested = 24
    static let ids = 32
  }

  /// The bit of `parts` that is set if `swept` follows the ids.
  private static let hasSwept: UInt16 = 1

  /// The greatest value of `nextKey`: keys have 62 bits.
  static let maximumKey = UInt64(1) << 62
  /// The greatest value of `nextNested`: the ids of nested collections have 62 bits.
  static let maximumNested = UInt64(1) << 62
  private static let knownTrees: UInt16 = 7

  init() {}

  /// The index of a column; null if it has none.
  func index(of column: Column) -> Ref { indexes[column.indexID] }

  /// See `NodeValidators`.
  static func isValid(_ view: NodeView) -> Bool {
    guard view.bodyLength >= Layout.ids else { return false }
    let (nextKey, rows) = (
      view.load(UInt64.self, at: Layout.nextKey), view.load(UInt64.self, at: Layout.rows)
    )
    let trees = view.load(UInt16.self, at: Layout.trees)
    let indexes = Int(view.load(UInt16.self, at: Layout.indexCount))
    let dictionaries = Int(view.load(UInt16.self, at: Layout.dictionaryCount))
    let count = indexes + dictionaries
    let nextNested = view.load(UInt64.self, at: Layout.nextNested)
    guard nextKey <= maximumKey, rows <= nextKey, (rows == 0) == (trees & 1 == 0),
      nextNested > 0, nextNested <= maximumNested,
      view.refCount == trees.nonzeroBitCount + count,
      Layout.ids + 2 * count + (view.load(UInt16.self, at: Layout.parts) & hasSwept == 0 ? 0 : 8)
        <= view.bodyLength
    else { return false }
    return idsGrow(view, 0..<indexes) && idsGrow(view, indexes..<count)
  }

  private static func idsGrow(_ view: NodeView, _ places: Range<Int>) -> Bool {
    var last: UInt16 = 0
    for place in places {
      let id = view.load(UInt16.self, at: Layout.ids + 2 * place)
      guard id > last else { return false }
      last = id
    }
    return true
  }

  /// - Throws: `.corrupted`; `.unknownFeature` for a table with trees or parts that this version does not know.
  init(_ ref: Ref, _ access: borrowing NodeAccess) throws(StorageError) {
    guard !ref.isNull else { return }
    let view = try access.node(ref, .table)
    nextKey = view.load(UInt64.self, at: Layout.nextKey)
    rows = view.load(UInt64.self, at: Layout.rows)
    nextNested = view.load(UInt64.self, at: Layout.nextNested)
    let trees = view.load(UInt16.self, at: Layout.trees)
    guard trees & ~Self.knownTrees == 0 else {
      throw access.unknown(.init("trees \(trees & ~Self.knownTrees)", of: "a table", need: .read))
    }
    var next = 0
    if trees & 1 != 0 {
      clusters = view.ref(next)
      next += 1
    }
    if trees & 2 != 0 {
      links = view.ref(next)
      next += 1
    }
    if trees & 4 != 0 {
      absentLinks = view.ref(next)
      next += 1
    }
    let indexCount = Int(view.load(UInt16.self, at: Layout.indexCount))
    for place in 0..<indexCount + Int(view.load(UInt16.self, at: Layout.dictionaryCount)) {
      let id = view.load(UInt16.self, at: Layout.ids + 2 * place)
      if place < indexCount {
        indexes[id] = view.ref(next + place)
      } else {
        dictionaries[id] = view.ref(next + place)
      }
    }
    let parts = view.load(UInt16.self, at: Layout.parts)
    guard parts & ~Self.hasSwept == 0 else {
      throw access.unknown(.init("parts \(parts & ~Self.hasSwept)", of: "a table", need: .read))
    }
    if parts & Self.hasSwept != 0 {
      swept = view.load(UInt64.self, at: Layout.ids + 2 * (view.refCount - next))
    }
  }

  /// Replaces the refs of all trees, for example after their nodes were moved. The content of the trees is the same.
  mutating func changeRefs(_ change: (Ref) -> Ref) {
    clusters = change(clusters)
    links = change(links)
    absentLinks = change(absentLinks)
    indexes.changeRoots(change)
    dictionaries.changeRoots(change)
  }

  func write(_ editor: NodeEditor) -> Ref {
    let arena = editor.arena
    let trees =
      UInt16(clusters.isNull ? 0 : 1) | UInt16(links.isNull ? 0 : 2) | UInt16(absentLinks.isNull ? 0 : 4)
    let treeCount = trees.nonzeroBitCount
    let columnCount = indexes.all.count + dictionaries.all.count
    let node = arena.make(
      kind: .table, level: level, refCount: treeCount + columnCount,
      bodyLength: Layout.ids + 2 * columnCount + (swept == 0 ? 0 : 8))
    node.store(nextKey, at: Layout.nextKey)
    node.store(rows, at: Layout.rows)
    node.store(trees, at: Layout.trees)
    node.store(UInt16(indexes.all.count), at: Layout.indexCount)
    node.store(UInt16(dictionaries.all.count), at: Layout.dictionaryCount)
    node.store(swept == 0 ? UInt16(0) : Self.hasSwept, at: Layout.parts)
    node.store(nextNested, at: Layout.nextNested)
    if swept != 0 { node.store(swept, at: Layout.ids + 2 * columnCount) }
    if !clusters.isNull { node.setRef(0, to: clusters) }
    if !links.isNull { node.setRef(clusters.isNull ? 0 : 1, to: links) }
    if !absentLinks.isNull { node.setRef(treeCount - 1, to: absentLinks) }
    for place in 0..<columnCount {
      let first = indexes.all.count
      let entry = place < first ? indexes.all[place] : dictionaries.all[place - first]
      node.setRef(treeCount + place, to: entry.root)
      node.store(entry.id, at: Layout.ids + 2 * place)
    }
    return node.ref
  }

  /// The level of the node, which is above that of each tree.
  private var level: UInt8 {
    var level: UInt8 = 0
    if !clusters.isNull { level = clusters.level + 1 }
    if !links.isNull { level = max(level, links.level + 1) }
    if !absentLinks.isNull { level = max(level, absentLinks.level + 1) }
    for entry in indexes.all { level = max(level, entry.root.level + 1) }
    for entry in dictionaries.all { level = max(level, entry.root.level + 1) }
    return level
  }
}
