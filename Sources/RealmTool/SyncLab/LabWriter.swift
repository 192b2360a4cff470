import RealmInterchange
import RealmStorage

/// Makes the changes of a device, as a program would. It checks everything before, because the engine stops the program
/// if a change does not fit the schema.
struct LabWriter {
  private let transaction: WriteTransaction
  private let device: String
  private static let key = "_id"

  init(_ transaction: WriteTransaction, device: String) {
    (self.transaction, self.device) = (transaction, device)
  }

  /// Makes a change.
  ///
  /// - Returns: a message about it; nil if there is nothing to say.
  func write(_ change: LabChange) throws -> String? {
    switch change {
    case .create(let table, let properties): return try create(table, properties)
    case .set(let object, let properties): return try set(object, properties)
    case .add(let object, let property, let amount): try add(amount, object, property)
    case .delete(let object):
      let (table, row) = try find(object)
      try table.remove(row)
    case .list(let object, let property, let change): try self.change(object, property, change)
    }
    return nil
  }

  // MARK: - Classes and properties

  private func position(_ name: String, _ table: WritableTable) -> Int? {
    table.schema.columns.firstIndex { $0.name == name && !$0.isCompanion }
  }

  private func existing(_ name: String) throws -> WritableTable {
    if let table = try transaction.table(name), table.schema.primaryKey != nil { return table }
    let names = try transaction.schemas().filter { !$0.isEmbedded }.map(\.name).joined(separator: ", ")
    throw LabProblem(
      "\(device) has no class '\(name)'.",
      names.isEmpty
        ? "Make it by: \(device): create \(name) {_id: 1}"
        : "Its classes are: \(names). Type `sync` for those of others.")
  }

  private func find(_ object: ObjectName) throws -> (table: WritableTable, row: UInt64) {
    let table = try existing(object.table)
    try check(object.key, table)
    guard let row = try table.row(withPrimaryKey: object.key) else {
      throw LabProblem(
        "\(device) has no object \(object.labText).",
        "Look by: show. Make it by: \(device): create \(object.table) {_id: \(object.key.text)}")
    }
    return (table, row)
  }

  private func check(_ key: Value, _ table: WritableTable) throws(LabProblem) {
    guard let column = table.schema.primaryKey else { return }
    switch (column.type, key) {
    case (.int64, .int), (.string, .string): return
    default:
      throw LabProblem(
        "The keys of \(table.schema.name) are each \(column.labType), and \(key.text) is not.",
        "Give a key of that type.")
    }
  }

  /// The class of a new object. If there is no such class, it is made.
  private func table(_ name: String, _ key: Value) throws -> (table: WritableTable, isNew: Bool) {
    if try transaction.table(name) != nil { return (try existing(name), false) }
    let type: ColumnType
    switch key {
    case .int: type = .int64
    case .string: type = .string
    default:
      throw LabProblem("\(key.text) can't be a key.", "A key is a whole number or a text, as in {_id: 1}.")
    }
    let column = Column(Self.key, type, index: .unique)
    return (try transaction.createTable(TableSchema(name, hasElementIDs: true, columns: [column])), true)
  }

  /// The position of a property in its class. If there is no such property, it is added.
  private func position(_ property: LabProperty, addedTo table: WritableTable) throws -> Int {
    if let known = position(property.name, table) { return known }
    let column: Column
    switch property.value {
    case .list(let elements, _):
      guard let type = try listType(elements, property.name) else {
        throw LabProblem(
          "The list '\(property.name)' is new and empty, so that the type of its elements is not known.",
          "Give it one element.")
      }
      column = Column(property.name, type, collection: .list)
    default:
      guard let type = property.value.labType else {
        throw LabProblem(
          "The property '\(property.name)' is new and null, so that its type is not known.",
          "Give it a value first.")
      }
      column = Column(property.name, type, isOptional: true)
    }
    try table.addColumn(column)
    guard let added = position(property.name, table) else {
      throw LabProblem("The property '\(property.name)' can't be added.", "Take another name.")
    }
    return added
  }

  private func listType(_ elements: [Value], _ name: String) throws(LabProblem) -> ColumnType? {
    let types = Set(elements.map(\.labType))
    if types == [.int64, .double] { return .double }
    guard types.count < 2, !types.contains(nil) else {
      throw LabProblem("The elements of '\(name)' are of several types, or null.", "Give them one type.")
    }
    return types.first ?? nil
  }

  /// The value in the type of a column. Throws if the value does not fit.
  private func fitting(_ value: Value, _ column: Column, _ table: String) throws(LabProblem) -> Value {
    if column.collection == .list, case .list(let elements, _) = value {
      var fitting: [Value] = []
      for element in elements { fitting.append(try self.element(element, column, table)) }
      return .list(fitting)
    }
    guard column.collection == .none else { throw misfit(value, column, table) }
    if value == .null, column.isOptional, column.type != .link { return .null }
    return try element(value, column, table)
  }

  private func element(_ value: Value, _ column: Column, _ table: String) throws(LabProblem) -> Value {
    switch (column.type, value) {
    case (.bool, .bool), (.int64, .int), (.double, .double), (.string, .string): return value
    case (.double, .int(let number)): return .double(Double(number))
    default: throw misfit(value, column, table)
    }
  }

  private func misfit(_ value: Value, _ column: Column, _ table: String) -> LabProblem {
    LabProblem(
      "\(table).\(column.name) holds \(column.labType), and \(value.text) does not fit.",
      "Give a value of that type, or take another property.")
  }

  // MARK: - Objects

  private func create(_ name: String, _ properties: [LabProperty]) throws -> String? {
    guard let key = properties.first(where: { $0.name == Self.key })?.value else {
      throw LabProblem("The object has no key.", "Give it one, as in: \(device): create \(name) {_id: 1}")
    }
    let (table, isNew) = try table(name, key)
    try check(key, table)
    guard try table.row(withPrimaryKey: key) == nil else {
      throw LabProblem(
        "\(device) has an object \(name) \(key.text) already.",
        "Change it by: \(device): set \(name) \(key.text) PROPERTY = VALUE; or take another key.")
    }
    var values: [(column: Int, value: Value)] = []
    for property in properties {
      let isKey = property.name == Self.key
      let column = isKey ? try keyPosition(table) : try position(property, addedTo: table)
      let value = isKey ? key : try fitting(property.value, table.schema.columns[column], name)
      values.append((column, value))
    }
    try table.insert { (row: inout NewRow) throws(StorageError) in
      for (column, value) in values { try row.set(column, value) }
    }
    guard isNew else { return nil }
    let columns = table.schema.properties.map { "\($0.name): \($0.labType)" }.joined(separator: ", ")
    return "The class \(name) is new: \(columns)."
  }

  private func keyPosition(_ table: WritableTable) throws -> Int {
    guard let position = table.schema.columns.firstIndex(where: { $0.index == .unique }) else {
      throw LabProblem("\(table.schema.name) has no key.", "Take another class.")
    }
    return position
  }

  private func set(_ object: ObjectName, _ properties: [LabProperty]) throws -> String? {
    let (table, row) = try find(object)
    for property in properties {
      let column = try position(property, addedTo: table)
      guard table.schema.columns[column].index != .unique else {
        throw LabProblem("The key of an object stays as it is.", "Make another object instead.")
      }
      let value = try fitting(property.value, table.schema.columns[column], object.table)
      try table.set(value, column, ofRow: row)
    }
    return nil
  }

  private func known(_ property: String, _ table: WritableTable) throws(LabProblem) -> Int {
    if let position = position(property, table) { return position }
    let names = table.schema.properties.map(\.name).joined(separator: ", ")
    throw LabProblem("\(table.schema.name) has no property '\(property)'.", "Its properties are: \(names).")
  }

  private func add(_ amount: Int64, _ object: ObjectName, _ property: String) throws {
    let (table, row) = try find(object)
    let position = try known(property, table)
    let column = table.schema.columns[position]
    guard column.type == .int64, column.collection == .none, column.index != .unique else {
      let content = column.index == .unique ? "the key" : column.labType
      throw LabProblem(
        "\(object.table).\(property) holds \(content), and nothing is added to that.",
        "Add to a property of whole numbers, or use set.")
    }
    switch try table.add(amount, to: position, ofRow: row) {
    case .sum: return
    case .null:
      throw LabProblem(
        "\(object.labText) has null in '\(property)', to which nothing can be added.",
        "Set it to a number first.")
    case .overflow:
      throw LabProblem("The sum has more than 64 bits.", "Add a smaller number.")
    case .noRow: throw LabProblem("\(object.labText) is gone.", "Make it again.")
    }
  }

  // MARK: - Lists

  private func change(_ object: ObjectName, _ property: String, _ change: LabListChange) throws {
    let (table, row) = try find(object)
    let list = try known(property, table)
    let column = table.schema.columns[list]
    guard column.collection == .list else {
      throw LabProblem(
        "\(object.table).\(property) is no list; it holds \(column.labType).",
        "Change it by: \(device): set \(object.labText) \(property) = VALUE")
    }
    let count = try table.listCount(list, ofRow: row) ?? 0
    func check(_ place: Int, below end: Int) throws(LabProblem) {
      guard place < 0 || place >= end else { return }
      throw LabProblem(
        "The list has no place \(place).",
        end == 0 ? "It is empty: append something first." : "The places there are go from 0 to \(end - 1).")
    }
    switch change {
    case .insert(let value, let place):
      let element = try element(value, column, object.table)
      try check(place ?? count, below: count + 1)
      try table.insert([element], at: place ?? count, ofList: list, ofRow: row)
    case .move(let old, let new):
      try check(old, below: count)
      try check(new, below: count)
      try table.moveElement(from: old, to: new, ofList: list, ofRow: row)
    case .remove(let place):
      try check(place, below: count)
      try table.removeElements(place..<place + 1, ofList: list, ofRow: row)
    }
  }
}

extension Value {
  /// The type that a new property gets for this value; nil if the value does not show one.
  fileprivate var labType: ColumnType? {
    switch self {
    case .int: .int64
    case .double: .double
    case .bool: .bool
    case .string: .string
    default: nil
    }
  }
}

extension Column {
  /// A description of the values of the column.
  fileprivate var labType: String {
    let (one, many) =
      switch type {
      case .int64: ("a whole number", "whole numbers")
      case .double: ("a number", "numbers")
      case .bool: ("true or false", "true or false")
      case .string: ("a text", "texts")
      default: ("\(type)", "\(type)")
      }
    switch collection {
    case .none: return one
    case .list: return "a list of \(many)"
    case .set: return "a set of \(many)"
    case .map: return "a map of \(many)"
    }
  }
}
