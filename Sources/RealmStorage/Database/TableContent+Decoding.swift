/// The keys of rows of one cluster that follow one another.
package struct RowKeys {
  package let first: UInt64
  package let last: UInt64
  package let count: Int
  /// The keys, in ascending order; empty if they are all numbers in `first...last`.
  package let keys: [UInt64]

  /// Makes the keys of the rows of a cluster from a position on; nil if there are no rows there.
  init?(_ cluster: borrowing ClusterNode, from place: Int = 0) {
    guard place < cluster.rows else { return nil }
    first = cluster.key(place)
    count = cluster.rows - place
    last = cluster.key(cluster.rows - 1)
    keys = cluster.isDense ? [] : (place..<cluster.rows).map { [cluster = copy cluster] in cluster.key($0) }
  }

  /// The keys, also if they are all numbers in `first...last`.
  var all: [UInt64] { keys.isEmpty ? Array(first...last) : keys }
}

/// The texts of a column in the rows of one cluster.
package struct DecodedTexts {
  /// A cell for each row, by its position in the cluster.
  package fileprivate(set) var cells: [TextCell]
  /// The texts that do not fit in a cell. The cell of such a text has its index in this array.
  package fileprivate(set) var long: [String] = []

  fileprivate mutating func add(_ text: String) -> TextCell {
    long.append(text)
    return TextCell(place: long.count - 1)
  }
}

extension TableContent {
  /// The keys of the rows in the cluster of a row; nil if there is no such row.
  func rows(around key: UInt64) throws(StorageError) -> RowKeys? {
    try withRow(key, nil) { (cluster, _, _) in RowKeys(cluster) }
  }

  /// The values of a column of numbers in the cluster of a row. Doubles are given by their bits.
  ///
  /// - Returns: the values, and for each of them whether it is null. `nulls` is empty if no value is null; both are
  ///   empty if there is no such row.
  func numbers(
    _ column: Int, around key: UInt64
  ) throws(StorageError) -> (numbers: [Int64], nulls: [Bool]) {
    let form = columns[column]
    let found = try withRow(key, ([], [])) { (cluster, _, _) -> (numbers: [Int64], nulls: [Bool]) in
      let descriptor = cluster.part(of: form)
      guard let descriptor, Int(descriptor.nullCount) < cluster.rows else {
        let isNull = descriptor != nil || form.isAbsentNull
        let number = isNull ? 0 : Int64(bitPattern: form.absentBits)
        let numbers = [Int64](repeating: number, count: cluster.rows)
        return (numbers, isNull ? Array(repeating: true, count: cluster.rows) : [])
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

  /// The values of a column of strings in the cluster of a row; nil if there is no such row, or if the values are so
  /// long or many that they are not in one piece.
  func texts(_ column: Int, around key: UInt64) throws(StorageError) -> DecodedTexts? {
    let form = columns[column]
    return try withRow(key, nil) { (cluster, _, access) throws(StorageError) in
      guard let descriptor = cluster.varying(of: form.id) else {
        var texts = DecodedTexts(cells: [])
        let text = String(decoding: absentBytes[column], as: UTF8.self)
        let cell = form.isAbsentNull ? .null : texts.add(text)
        texts.cells = Array(repeating: cell, count: cluster.rows)
        return texts
      }
      if descriptor.encoding == .codes { return try self.texts(cluster, descriptor, access) }
      guard descriptor.greatest == 1 else { return nil }
      let ref = cluster.piece(descriptor, 0).ref
      let piece = PieceNode(try access.node(ref, .piece))
      guard piece.rows == cluster.rows else { throw access.corrupted(.rows, ref) }
      return try Self.texts(piece, ref, access)
    }
  }

  /// The texts of a piece; nil if one of them is stored apart, because it is long.
  private static func texts(
    _ piece: borrowing PieceNode, _ ref: Ref, _ access: borrowing NodeAccess
  ) throws(StorageError) -> DecodedTexts? {
    let maker = TextMaker()
    var others: [Int] = []
    var texts = DecodedTexts(
      cells: [TextCell](unsafeUninitializedCapacity: piece.rows) { cells, count in
        for row in 0..<piece.rows {
          cells[row] = .null
          if piece.isNull(row) { continue }
          if !piece.isLong(row), let cell = maker.cell(piece.bytes(row)) {
            cells[row] = cell
          } else {
            others.append(row)
          }
        }
        count = piece.rows
      })
    for row in others {
      if piece.isLong(row) { return nil }
      guard let text = maker.text(piece.bytes(row)) else { throw access.corrupted(.structure, ref) }
      texts.cells[row] = texts.add(text)
    }
    return texts
  }

  /// The texts of a column whose values are in a dictionary. Each value of the dictionary is read only once.
  private func texts(
    _ cluster: borrowing ClusterNode, _ descriptor: ClusterNode.Descriptor, _ access: borrowing NodeAccess
  ) throws(StorageError) -> DecodedTexts {
    let root = root.dictionaries[descriptor.column]
    let dictionary = DictionaryReader(root, access.lent)
    let maker = TextMaker()
    // The cells by their code less the least one, for codes that lie near the least one. A null cell is one that was
    // not read yet, because no value of the dictionary is null.
    let span = descriptor.greatest &- descriptor.least
    var known = Array(repeating: TextCell.null, count: Int(min(max(span, 0), 1 << 11)) + 1)
    var others: [Int64: TextCell] = [:]
    var texts = DecodedTexts(cells: Array(repeating: .null, count: cluster.rows))
    for row in 0..<cluster.rows where !cluster.isNull(descriptor, row) {
      let code = cluster.integer(descriptor, row)
      let place = UInt64(bitPattern: code &- descriptor.least)
      let found = place < known.count ? known[Int(place)] : others[code] ?? .null
      if found != .null {
        texts.cells[row] = found
        continue
      }
      let bytes = try dictionary.bytes(code)
      var cell = maker.cell(bytes)
      if cell == nil { cell = maker.text(bytes).map { texts.add($0) } }
      guard let cell else { throw access.corrupted(.structure, root) }
      if place < known.count { known[Int(place)] = cell } else { others[code] = cell }
      texts.cells[row] = cell
    }
    return texts
  }

  private func nulls(_ cluster: borrowing ClusterNode, _ descriptor: ClusterNode.Descriptor) -> [Bool] {
    guard descriptor.nullCount > 0 else { return [] }
    var nulls: [Bool] = []
    nulls.reserveCapacity(cluster.rows)
    for row in 0..<cluster.rows { nulls.append(cluster.isNull(descriptor, row)) }
    return nulls
  }
}
