/// Rows that stand together, by key.
package struct RowKeys {
  package let first: UInt64
  package let last: UInt64
  package let count: Int
  /// None where they run on without a gap.
  package let keys: [UInt64]

  /// The rows of a cluster from a place on, where there are some.
  init?(_ cluster: borrowing ClusterNode, from place: Int = 0) {
    guard place < cluster.rows else { return nil }
    first = cluster.key(place)
    count = cluster.rows - place
    last = cluster.key(cluster.rows - 1)
    keys = cluster.isDense ? [] : (place..<cluster.rows).map { [cluster = copy cluster] in cluster.key($0) }
  }

  /// The keys, also where they run on.
  var all: [UInt64] { keys.isEmpty ? Array(first...last) : keys }
}

/// The values of a column of texts that stand together.
package enum DecodedTexts {
  /// All of them are short.
  case short([ShortText])
  case any([String])

  package var count: Int {
    switch self {
    case .short(let texts): texts.count
    case .any(let texts): texts.count
    }
  }
}

extension TableContent {
  /// The rows that stand with a row; nil where that is not there.
  func rows(around key: UInt64) throws(StorageError) -> RowKeys? {
    try withRow(key, nil) { (cluster, _, _) in RowKeys(cluster) }
  }

  /// The values of a column of numbers, and which of them are null, if any: doubles as their bits.
  func numbers(
    _ column: Int, around key: UInt64
  ) throws(StorageError) -> (numbers: [Int64], nulls: [Bool]) {
    let form = columns[column]
    let found = try withRow(key, ([], [])) { (cluster, _, _) -> (numbers: [Int64], nulls: [Bool]) in
      let descriptor: ClusterNode.Descriptor?
      if form.kind == .integers {
        descriptor = cluster.find(form.id, .integers)
      } else {
        descriptor = cluster.find(form.id, .fixed).flatMap { $0.width == form.size ? $0 : nil }
      }
      guard let descriptor, Int(descriptor.nullCount) < cluster.rows else {
        let zeros = [Int64](repeating: 0, count: cluster.rows)
        let isNull = descriptor != nil || form.isOptional
        return (zeros, isNull ? Array(repeating: true, count: cluster.rows) : [])
      }
      let isFixed = form.kind == .fixed
      let numbers = PackedIntegers.unpack(
        cluster.data(descriptor), count: cluster.rows,
        width: isFixed ? Int(descriptor.width) * 8 : Int(descriptor.width),
        base: isFixed ? 0 : descriptor.least)
      return (numbers, nulls(cluster, descriptor))
    }
    return found
  }

  /// The values of a column of strings, and which of them are null, if any; nil where they do not stand in one piece, and
  /// so are long or many.
  func texts(
    _ column: Int, around key: UInt64
  ) throws(StorageError) -> (texts: DecodedTexts, nulls: [Bool])? {
    let form = columns[column]
    return try withRow(key, nil) { (cluster, _, access) throws(StorageError) in
      guard let descriptor = cluster.findVarying(form.id, hasCodes: true) else {
        return (
          .any(Array(repeating: "", count: cluster.rows)),
          form.isOptional ? Array(repeating: true, count: cluster.rows) : []
        )
      }
      if descriptor.encoding == .codes {
        let (texts, nulls) = try self.texts(cluster, descriptor, access)
        return (.any(texts), nulls)
      }
      guard descriptor.greatest == 1 else { return nil }
      let ref = cluster.piece(descriptor, 0).ref
      let piece = PieceNode(try access.node(ref, .piece))
      guard piece.rows == cluster.rows else { throw access.corrupted(.rows, ref) }
      if let short = Self.shortTexts(piece) { return (.short(short), []) }
      let maker = TextMaker()
      var texts: [String] = []
      texts.reserveCapacity(cluster.rows)
      var nulls: [Bool] = []
      for row in 0..<cluster.rows {
        if piece.isLong(row) { return nil }
        if piece.isNull(row) {
          if nulls.isEmpty { nulls = Array(repeating: false, count: cluster.rows) }
          nulls[row] = true
        }
        guard let text = maker.text(piece.bytes(row)) else { throw access.corrupted(.structure, ref) }
        texts.append(text)
      }
      return (.any(texts), nulls)
    }
  }

  /// The texts of a piece, where all are short and none is null.
  private static func shortTexts(_ piece: borrowing PieceNode) -> [ShortText]? {
    let maker = TextMaker()
    let rows = piece.rows
    var isComplete = false
    let texts = [ShortText](unsafeUninitializedCapacity: rows) { texts, count in
      while count < rows, !piece.isLong(count), !piece.isNull(count),
        let text = maker.shortText(piece.bytes(count))
      {
        texts[count] = text
        count += 1
      }
      isComplete = count == rows
    }
    return isComplete ? texts : nil
  }

  /// The same of values that stand in the column's dictionary: each is read once.
  private func texts(
    _ cluster: borrowing ClusterNode, _ descriptor: ClusterNode.Descriptor, _ access: borrowing NodeAccess
  ) throws(StorageError) -> (texts: [String], nulls: [Bool]) {
    let nulls = nulls(cluster, descriptor)
    let root = root.dictionaries[descriptor.column]
    let dictionary = DictionaryReader(root, access.lent)
    let maker = TextMaker()
    var known: [Int64: String] = [:]
    var texts: [String] = []
    texts.reserveCapacity(cluster.rows)
    for row in 0..<cluster.rows {
      if !nulls.isEmpty, nulls[row] {
        texts.append("")
        continue
      }
      let code = cluster.integer(descriptor, row)
      if let text = known[code] {
        texts.append(text)
        continue
      }
      guard let text = maker.text(try dictionary.bytes(code)) else {
        throw access.corrupted(.structure, root)
      }
      known[code] = text
      texts.append(text)
    }
    return (texts, nulls)
  }

  private func nulls(_ cluster: borrowing ClusterNode, _ descriptor: ClusterNode.Descriptor) -> [Bool] {
    guard descriptor.nullCount > 0 else { return [] }
    var nulls: [Bool] = []
    nulls.reserveCapacity(cluster.rows)
    for row in 0..<cluster.rows { nulls.append(cluster.isNull(descriptor, row)) }
    return nulls
  }
}
