/// Rows that were made together, in the form of their creation in a changeset. They are encoded column by column, so
/// that no values have to be kept for each row.
struct CreatedRows {
  let keys: [UInt64]
  /// The primary keys.
  private(set) var names: Encoded
  /// The columns that hold one value each and are neither mixed nor links.
  private(set) var columns: [Encoded] = []
  /// The positions of all other columns of the program.
  private(set) var others: [Int] = []

  /// The values of a column.
  struct Encoded {
    let position: Int
    private(set) var bytes: [UInt8] = []
    private(set) var ends: [Int] = []
    private(set) var forms: [Form] = []
  }

  /// The form in which the value of a row is told.
  enum Form: UInt8 {
    /// The value is not told, because it is null.
    case unset
    case set
    /// The value is the default of a new row in this file. In another file the default may be null or another value.
    case setDefault
    /// The value is long, so an instruction behind the creation tells it.
    case apart
  }

  /// - Parameter key: the position of the primary key.
  init(_ part: RowBatch.Part, _ schema: TableSchema, key: Int) {
    keys = part.keys
    names = Encoded(position: key)
    names.append(part.columns[key], part.first, keys.count, schema.columns[key], isKey: true)
    columns.reserveCapacity(schema.columns.count)
    for (position, column) in schema.columns.enumerated() where position != key && !column.isCompanion {
      guard !column.isCollection, !column.canLink else {
        others.append(position)
        continue
      }
      var encoded = Encoded(position: position)
      encoded.append(part.columns[position], part.first, keys.count, column, isKey: false)
      columns.append(encoded)
    }
  }

  init(keys: [UInt64], names: Encoded, columns: [Encoded], others: [Int]) {
    (self.keys, self.names, self.columns, self.others) = (keys, names, columns, others)
  }

  /// The greatest number of bytes that the creation of a row takes.
  func size(_ row: Int) -> Int {
    columns.reduce(16 + names.range(row).count) { $0 + 5 + $1.range(row).count }
  }
}

extension CreatedRows.Encoded {
  func range(_ row: Int) -> Range<Int> { (row == 0 ? 0 : ends[row - 1])..<ends[row] }

  fileprivate mutating func append(
    _ values: RowBatch.Values, _ first: Int, _ count: Int, _ column: Column, isKey: Bool
  ) {
    reserve(count)
    if case .varying(let buffer, _) = values, column.holdsPlainBytes {
      for place in first..<first + count {
        if buffer.isNull(place) {
          appendNull(isKey: isKey)
        } else {
          append(buffer.bytes(place), column, isKey: isKey)
        }
      }
      return
    }
    let usual = column.defaultValue
    for place in first..<first + count { append(values.value(place), usual, column, isKey: isKey) }
  }

  mutating func reserve(_ count: Int) {
    ends.reserveCapacity(count)
    forms.reserveCapacity(count)
    bytes.reserveCapacity(count * 8)
  }

  mutating func appendNull(isKey: Bool) {
    forms.append(.unset)
    if isKey { ValueCoding.appendMixed(.null, to: &bytes) }
    ends.append(bytes.count)
  }

  mutating func appendApart() {
    forms.append(.apart)
    ends.append(bytes.count)
  }

  /// Appends a text or data.
  mutating func append(_ content: RawSpan, _ column: Column, isKey: Bool) {
    guard isKey || content.byteCount <= ChangesetMaker.mostWithCreation else { return appendApart() }
    forms.append(column.isOptional || content.byteCount > 0 ? .set : .setDefault)
    bytes.append(column.type.rawValue)
    bytes.appendVarint(UInt64(content.byteCount))
    bytes.append(content)
    ends.append(bytes.count)
  }

  mutating func append(_ value: Value, _ usual: Value, _ column: Column, isKey: Bool) {
    defer { ends.append(bytes.count) }
    if !isKey, value == usual {
      guard value != .null else { return forms.append(.unset) }
      forms.append(.setDefault)
    } else {
      guard isKey || value.length <= ChangesetMaker.mostWithCreation else { return forms.append(.apart) }
      forms.append(.set)
    }
    ValueCoding.appendMixed(value, to: &bytes)
  }
}

extension Column {
  /// True for a column of texts or data whose default is null or empty.
  var holdsPlainBytes: Bool { (type == .string || type == .data) && storedDefault == nil }
}
