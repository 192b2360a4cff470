/// The result of adding to a number.
public enum Addition: Sendable, Equatable {
  /// The number is this sum now.
  case sum(Int64)
  /// The value is null, and stays null.
  case null
  /// The sum is outside of the allowed range, and the number stays as it was.
  case overflow
  /// There is no such row.
  case noRow
}

extension TableWriter {
  /// Adds to a whole number. This is a kind of change of its own, so that two additions in different places can be told
  /// apart from two assignments.
  func add(
    _ amount: Int64, to position: Int, ofRow row: UInt64, within range: ClosedRange<Int64>
  ) throws(StorageError) -> Addition {
    let column = schema.columns[position]
    switch try value(column, ofRow: row) {
    case .int(let number):
      let (sum, isTooLarge) = number.addingReportingOverflow(amount)
      guard !isTooLarge, range.contains(sum) else { return .overflow }
      if amount != 0 {
        _ = try setAlone(.int(sum), at: position, ofRow: row, isNew: false)
        if isRecorded {
          try note(.add(amount, CellPlace(row: row, column: column.id)), before: .value(.int(number)))
        }
      }
      return .sum(sum)
    case nil: return .noRow
    default: return .null
    }
  }
}

/// Changes of many numbers of a column at once.
extension TableWriter {
  /// A function from the old number to the new one.
  enum NumberChange {
    case integers((Int64) -> Int64)
    case doubles((Double) -> Double)
  }

  /// Changes the numbers of some rows, or of all rows. Nulls stay.
  ///
  /// - Returns: the number of rows that were found, including those with null.
  /// - Precondition: the column has numbers of this type, and the new ones fit it.
  func change(
    _ position: Int, of rows: [UInt64]?, _ change: NumberChange
  ) throws(StorageError) -> Int {
    let column = schema.columns[position]
    precondition(
      change.fits(column),
      "\(schema.name).\(column.name) of type \(column.type) has no such numbers to change")
    if column.index != .none { return try changeIndexed(column, of: rows, change) }
    do throws(StorageError) {
      try dropBuffer()
      guard !clusters.isNull else { return 0 }
      let told = isRecorded ? ChangedNumbers(column) : nil
      let count = try clusters(changing: column, of: rows, change, told)
      if let told { try note(told) }
      return count
    } catch {
      throw tables.fail(error)
    }
  }

  /// The changed numbers, for the recorder.
  fileprivate final class ChangedNumbers {
    let column: Column
    var (rows, old, new): ([UInt64], [Value], [Value]) = ([], [], [])

    init(_ column: Column) { self.column = column }

    func add(_ places: some Sequence<Int>, _ keys: [UInt64], from before: FixedBuffer, to after: FixedBuffer)
    {
      for place in places {
        let (left, right) = (before.value(place, of: column), after.value(place, of: column))
        guard left != right else { continue }
        rows.append(keys[place])
        old.append(left)
        new.append(right)
      }
    }
  }

  private func note(_ changed: ChangedNumbers) throws(StorageError) {
    guard !changed.rows.isEmpty else { return }
    guard tables.recording?.takesRowsApart == true else {
      let kind = RowChange.Kind.setMany(column: changed.column.id, rows: changed.rows, values: changed.new)
      return try note(kind, before: .values(changed.old))
    }
    for (place, row) in changed.rows.enumerated() {
      try note(
        .set(changed.new[place], CellPlace(row: row, column: changed.column.id)),
        before: .value(changed.old[place]))
    }
  }

  private func clusters(
    changing column: Column, of rows: [UInt64]?, _ change: NumberChange, _ told: ChangedNumbers?
  ) throws(StorageError) -> Int {
    let clusterChange = clusterChange
    guard var keys = rows else {
      clusters = try KeyedTree.updateAll(in: clusters, editor: editor, spills: true) {
        (leaf) throws(StorageError) in
        if told == nil, case .doubles(let change) = change {
          switch try clusterChange.changeAll(column, leaf, change) {
          case .unchanged: return nil
          case .changed(let child): return [child]
          case .needsMore: break
          }
        }
        var cluster = try Cluster(leaf, editor.access())
        return try clusterChange.change(column, leaf, &cluster, 0..<cluster.rows, change, told)
      }
      return Int(clamping: root.rows)
    }
    keys.sortWithoutRepeats()
    var found = 0
    clusters = try KeyedTree.update(keys, in: clusters, editor: editor, spills: true) {
      (leaf, range) throws(StorageError) in
      var cluster = try Cluster(leaf, editor.access())
      let places = cluster.places(of: keys[range])
      found += places.count
      return try clusterChange.change(column, leaf, &cluster, places, change, told)
    }
    return found
  }

  /// Changes the numbers of a column with an index, one by one, because each value has its place in the index. After an error
  /// behind the first change, as of a duplicate key, the transaction can't be committed: it would have a part of the changes.
  private func changeIndexed(
    _ column: Column, of rows: [UInt64]?, _ change: NumberChange
  ) throws(StorageError) -> Int {
    var found = 0
    var isChanged = false
    do throws(StorageError) {
      for key in try keys(rows) {
        guard let old = try value(column, ofRow: key) else { continue }
        found += 1
        guard let new = change.number(for: old), new != old else { continue }
        _ = try checkedSet(new, column, ofRow: key)
        isChanged = true
        if isRecorded { try note(.set(new, CellPlace(row: key, column: column.id)), before: .value(old)) }
      }
    } catch {
      throw isChanged ? tables.fail(error) : error
    }
    return found
  }

  private func checkedSet(_ value: Value, _ column: Column, ofRow row: UInt64) throws(StorageError) -> Bool {
    precondition(
      column.accepts(value), "\(schema.name).\(column.name) of type \(column.type) can't hold that value")
    return try setUntold(value, column, ofRow: row)
  }

  /// The given keys, or those of all rows, in ascending order and each one once.
  private func keys(_ rows: [UInt64]?) throws(StorageError) -> [UInt64] {
    guard var keys = rows else { return try allKeys() }
    keys.sortWithoutRepeats()
    return keys
  }

  /// The keys of all rows, in ascending order.
  func allKeys() throws(StorageError) -> [UInt64] {
    try flushRows()
    var keys: [UInt64] = []
    keys.reserveCapacity(Int(clamping: root.rows))
    try KeyedTree.forEachLeaf(of: clusters, editor.access()) { (leaf) throws(StorageError) in
      keys += try Cluster(leaf, editor.access()).keys
      return true
    }
    return keys
  }
}

extension TableWriter.NumberChange {
  fileprivate func fits(_ column: Column) -> Bool {
    guard !column.isCollection else { return false }
    switch self {
    case .integers: return column.type == .int64
    case .doubles: return column.type == .double
    }
  }

  /// The new number for an old one; nil for null.
  fileprivate func number(for old: Value) -> Value? {
    switch (self, old) {
    case (.integers(let change), .int(let number)): .int(change(number))
    case (.doubles(let change), .double(let number)): .double(change(number))
    default: nil
    }
  }
}

extension ClusterChange {
  fileprivate enum WholeChange {
    case unchanged
    case changed(KeyedChild)
    /// The cluster has to be unpacked, because other parts of it change with the numbers.
    case needsMore
  }

  /// Changes the doubles of all rows of a cluster, in a copy of it.
  fileprivate func changeAll(
    _ column: Column, _ leaf: Ref, _ change: (Double) -> Double
  ) throws(StorageError) -> WholeChange {
    let access = editor.access()
    let cluster = ClusterNode(try access.node(leaf, .cluster))
    guard let descriptor = cluster.part(of: column), descriptor.nullCount == 0
    else { return .needsMore }
    let data = cluster.data(descriptor)
    var numbers = [UInt64](repeating: 0, count: cluster.rows)
    var isChanged = false
    for row in numbers.indices {
      let old = data.unsafeLoadUnaligned(fromByteOffset: 8 * row, as: UInt64.self)
      numbers[row] = change(Double(bitPattern: UInt64(littleEndian: old))).bitPattern.littleEndian
      isChanged = isChanged || numbers[row] != old
    }
    guard isChanged else { return .unchanged }
    let (leastKey, rows) = (cluster.key(0), UInt64(cluster.rows))
    let made = editor.change(leaf, cluster.view) { $0.copy(numbers.span.bytes, at: descriptor.offset) }
    return .changed(KeyedChild(leastKey: leastKey, rows: rows, ref: made))
  }

  /// Changes the numbers of some rows of a cluster; nil if no number changes.
  fileprivate func change<Rows: Sequence<Int>>(
    _ column: Column, _ leaf: Ref, _ cluster: inout Cluster, _ rows: Rows, _ change: TableWriter.NumberChange,
    _ told: TableWriter.ChangedNumbers?
  ) throws(StorageError) -> [KeyedChild]? {
    var numbers = try cluster.unpack(column, editor)
    let before = told == nil ? nil : numbers
    let isChanged =
      switch change {
      case .doubles(let change): numbers.change(rows, change)
      case .integers(let change): numbers.change(rows, change)
      }
    guard isChanged else { return nil }
    if let told, let before { told.add(rows, cluster.keys, from: before, to: numbers) }
    cluster.pack(numbers, as: column)
    return try replace(leaf, by: cluster)
  }
}

extension Cluster {
  /// The positions of those rows of the cluster whose keys are among the sorted `sought`.
  fileprivate func places(of sought: ArraySlice<UInt64>) -> [Int] {
    var places: [Int] = []
    places.reserveCapacity(sought.count)
    var place = 0
    for key in sought {
      while place < rows, keys[place] < key { place += 1 }
      if place < rows, keys[place] == key { places.append(place) }
    }
    return places
  }
}
