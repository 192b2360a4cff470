/// A test of a column whose values are strings or data.
final class TextColumnTest: ClusterTest {
  let column: Column
  /// The dictionary of the column, for values that have codes.
  let dictionary: Ref
  let search: TextSearch
  let verdict: Verdict
  override var cost: Int { search.cost }
  /// The results of the search for the values of codes, by code.
  private var known: [Finding] = []

  private enum Finding: UInt8 { case unknown, found, notFound }

  init(_ column: Column, _ dictionary: Ref, _ search: TextSearch, _ verdict: Verdict) {
    self.column = column
    self.dictionary = dictionary
    self.search = search
    self.verdict = verdict
  }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    guard let descriptor = cluster.part(of: column) else {
      let bytes = column.absentValue.varyingBytes(of: column)
      guard let bytes else { return verdict.mask(ofAll: true, isFound: false, within: rows) }
      return verdict.mask(ofAll: false, isFound: search.finds(bytes.span.bytes), within: rows)
    }
    if descriptor.encoding == .codes {
      return try mask(ofCodes: descriptor, of: cluster, within: rows, access)
    }
    var passing = RowMask.none
    let pieces = Int(descriptor.greatest)
    for index in 0..<pieces {
      let first = cluster.firstRow(descriptor, index)
      let end = index + 1 < pieces ? cluster.firstRow(descriptor, index + 1) : cluster.rows
      let wanted = rows.from(first) & RowMask(first: end - first)
      if wanted.isEmpty { continue }
      let ref = cluster.view.ref(Int(descriptor.least) + index)
      let piece = PieceNode(try access.node(ref, .piece))
      guard piece.rows == end - first else { throw access.corrupted(.rows, ref) }
      let found = try search.mask(of: piece, within: wanted, access)
      passing = passing | verdict.mask(found, nulls: piece.nulls, within: wanted).moved(by: first)
    }
    return passing
  }

  private func mask(
    ofCodes descriptor: ClusterNode.Descriptor, of cluster: borrowing ClusterNode, within rows: RowMask,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    let nulls = cluster.nulls(descriptor)
    // The results are in a local variable here, because each access to a property of a class is checked.
    var known = known
    self.known = []
    defer { self.known = known }
    var found = RowMask.none
    try rows.subtracting(nulls).forEach { (row) throws(StorageError) in
      let code = cluster.integer(descriptor, row)
      if code >= 0, code < known.count, known[Int(code)] != .unknown {
        if known[Int(code)] == .found { found.insert(row) }
        return
      }
      // A code that was not given throws an error, so that there are never more results than codes.
      let isFound = search.finds(try DictionaryReader(dictionary, access.lent).bytes(code))
      if code >= known.count {
        known += Array(repeating: .unknown, count: Int(code) + 1 - known.count)
      }
      known[Int(code)] = isFound ? .found : .notFound
      if isFound { found.insert(row) }
    }
    return verdict.mask(found, nulls: nulls, within: rows)
  }
}

/// What is looked for in texts.
enum TextSearch {
  case nothing
  /// The text passes one of the needles.
  case needles([PackedTexts.Needle])
  /// The text equals one of these, which are sorted.
  case oneOf([[UInt8]])
  /// The text equals one of these after folding. `isString` says whether the texts are strings; otherwise they are
  /// data.
  case folded(FoldedTexts, isString: Bool)
  /// The text is not below the first bound, and not above the second one. A bound that is nil has no effect.
  case range(Bound?, Bound?)

  struct Bound {
    var bytes: [UInt8]
    /// Whether the bytes themselves are within the bound.
    var isClosed: Bool
  }

  var cost: Int {
    switch self {
    case .nothing: 1
    case .needles(let needles): needles.reduce(0) { $0 + $1.cost }
    case .oneOf, .range: 30
    case .folded: 120
    }
  }

  func finds(_ text: RawSpan) -> Bool {
    switch self {
    case .nothing: return false
    case .needles(let needles):
      for needle in needles where needle.passes(text) { return true }
      return false
    case .oneOf(let texts):
      var (low, high) = (0, texts.count)
      while low < high {
        let middle = (low + high) / 2
        let other = texts[middle]
        let order = other.span.bytes.compare(text)
        if order == 0 { return true }
        if order < 0 { low = middle + 1 } else { high = middle }
      }
      return false
    case .folded(let texts, let isString): return texts.contains(text, isString: isString)
    case .range(let low, let high):
      if let low {
        let bytes = low.bytes
        let order = text.compare(bytes.span.bytes)
        if order < 0 || (order == 0 && !low.isClosed) { return false }
      }
      if let high {
        let bytes = high.bytes
        let order = text.compare(bytes.span.bytes)
        if order > 0 || (order == 0 && !high.isClosed) { return false }
      }
      return true
    }
  }

  /// The rows of a piece that are found. Rows that are null or not in `rows` may be among them.
  func mask(
    of piece: borrowing PieceNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    var found = RowMask.none
    if case .needles(let needles) = self, rows.count * 8 > piece.rows {
      for needle in needles {
        found = found | PackedTexts.mask(ends: piece.ends, heap: piece.heapBytes, rows: piece.rows, needle)
      }
    } else {
      rows.forEach { row in
        if !piece.isLong(row), finds(piece.bytes(row)) { found.insert(row) }
      }
    }
    // Only pieces with long values have refs.
    guard piece.view.refCount > 0 else { return found }
    let long = PackedTexts.flagged(ends: piece.ends, rows: piece.rows, PieceNode.Layout.longFlag) & rows
    try long.forEach { (row) throws(StorageError) in
      guard let (ref, length) = piece.long(row) else { return }
      let bytes = try LongValue.read(ref, access)
      guard bytes.count == length else { throw access.corrupted(.rows, ref) }
      if finds(bytes.span.bytes) { found.insert(row) }
    }
    return found
  }
}

extension PackedTexts.Needle {
  var cost: Int {
    let search =
      switch match {
      case .equal: 5
      case .begins, .ends: 10
      case .contains: 20
      case .like: 60
      }
    return folding.isEmpty ? search : 3 * search
  }
}

extension PieceNode {
  var ends: RawSpan { @_lifetime(copy self) get { view.bytes(at: 2, count: 2 * rows) } }
  var nulls: RowMask { PackedTexts.flagged(ends: ends, rows: rows, Layout.nullFlag) }
}

extension TextSearch {
  /// The search that answers a test, and whether exactly the values pass that are not found.
  ///
  /// - Parameter ordersNull: see `Comparison.holds`.
  static func solve(
    _ test: ValueTest, isString: Bool, ordersNull: Bool
  ) -> (search: TextSearch, isNegated: Bool) {
    func bytes(_ value: Value) -> [UInt8]? {
      switch value {
      case .string(let text): isString ? Array(text.utf8) : nil
      case .data(let bytes): isString ? nil : bytes
      default: nil
      }
    }
    func equal(_ bytes: [UInt8]) -> PackedTexts.Needle {
      PackedTexts.Needle(.equal, bytes, folding: [], isText: isString)
    }
    switch test {
    case .compare(let comparison, let value):
      guard let bytes = bytes(value) else {
        let passes = value == .null && ordersNull ? comparison.holds(1) : comparison == .notEqual
        return (.nothing, passes)
      }
      switch comparison {
      case .equal: return (.needles([equal(bytes)]), false)
      case .notEqual: return (.needles([equal(bytes)]), true)
      case .less, .lessOrEqual:
        return (.range(nil, Bound(bytes: bytes, isClosed: comparison == .lessOrEqual)), false)
      case .greater, .greaterOrEqual:
        return (.range(Bound(bytes: bytes, isClosed: comparison == .greaterOrEqual), nil), false)
      }
    case .isIn(let values):
      let texts = Set(values.compactMap(bytes))
      if texts.count <= 4 { return (.needles(texts.map(equal)), false) }
      return (.oneOf(texts.sorted { $0.span.bytes.compare($1.span.bytes) < 0 }), false)
    case .between(let low, let high):
      guard let last = bytes(high) else { return (.nothing, false) }
      let end = Bound(bytes: last, isClosed: true)
      if low == .null, ordersNull { return (.range(nil, end), false) }
      return (bytes(low).map { .range(Bound(bytes: $0, isClosed: true), end) } ?? .nothing, false)
    case .isFolded(let texts): return (.folded(texts, isString: isString), false)
    case .text(let test): return (test.needle.map { .needles([$0]) } ?? .nothing, test.isNegated)
    case .count, .isAmong: return (.nothing, false)
    }
  }
}
