package import RealmStorage

/// Guesses the columns of a table from values that are to be imported.
package struct SchemaGuess {
  /// The kinds of values that the guess distinguishes.
  private enum Look: Hashable {
    case null, bool, int
    /// An integer that a double may not hold exactly, because its magnitude is greater than 2^53.
    case greatInt
    case double, date, uuid, text, other
  }

  private struct Property {
    let name: String
    var looks: Set<Look> = []
    /// The kinds of the elements, if arrays were found.
    var elements: Set<Look> = []
    var arrays = 0
    /// The number of records that have the property.
    var count = 0
    /// The values so far, if they all differ; nil if two are equal, or the property can't be a primary key.
    var values: Set<[UInt8]>?
  }

  private static let keyNames = ["_id", "id"]
  private var properties: [Property] = []
  private var places: [[UInt8]: Int] = [:]
  package private(set) var records = 0
  /// Whether all values come from texts, as in CSV, so that each of them can be a string.
  private var isOfTexts = false

  package init() {}

  // MARK: - What is looked at

  package mutating func look(at object: JSONNode) {
    records += 1
    for member in object.members ?? [] {
      let place = place(of: member.name)
      properties[place].count += 1
      if let elements = member.value.array {
        properties[place].arrays += 1
        for element in elements { properties[place].elements.insert(Self.look(of: element)) }
        properties[place].values = nil
      } else {
        properties[place].looks.insert(Self.look(of: member.value))
        if properties[place].values != nil { note(member.value.written, at: place) }
      }
    }
  }

  /// Looks at a record of CSV.
  ///
  /// - Parameter names: the names of the fields, from the first line.
  package mutating func look(at record: CSVReader.Record, names: [String]) {
    records += 1
    isOfTexts = true
    for (name, field) in zip(names, record.fields) {
      let place = place(of: name)
      properties[place].count += 1
      properties[place].looks.insert(
        field.isNull ? .null : Self.look(ofText: field.text, isQuoted: field.isQuoted))
      if properties[place].values != nil { note(field.text, at: place) }
    }
  }

  private mutating func place(of name: String) -> Int {
    if let place = places[Array(name.utf8)] { return place }
    var property = Property(name: name)
    if Self.keyNames.contains(name) { property.values = [] }
    places[Array(name.utf8)] = properties.count
    properties.append(property)
    return properties.count - 1
  }

  private mutating func note(_ value: String, at place: Int) {
    if properties[place].values?.insert(Array(value.utf8)).inserted == false {
      properties[place].values = nil
    }
  }

  private static func look(of node: JSONNode) -> Look {
    switch node.content {
    case .null: .null
    case .bool: .bool
    case .number(let text): look(ofNumber: text) ?? .other
    case .string(let text): look(ofString: text)
    case .array: .other
    case .object:
      if node.tagged("$int") != nil {
        .greatInt
      } else if node.tagged("$double") != nil {
        .double
      } else {
        .other
      }
    }
  }

  private static func look(ofString text: String) -> Look {
    if DateText.moment(text) != nil { return .date }
    return UUIDText.bytes(text) != nil ? .uuid : .text
  }

  private static func look(ofText text: String, isQuoted: Bool) -> Look {
    if isQuoted { return look(ofString: text) }
    if text == "true" || text == "false" { return .bool }
    if case .number? = (try? JSONParser.value(of: Array(text.utf8)))?.content, text.utf8.last != 0x20 {
      return look(ofNumber: text) ?? .text
    }
    return look(ofString: text)
  }

  /// The kind of a number. It is nil if the number is whole and does not fit in `Int64`, or if it is too great for a
  /// double. A text such as 007 is not passed to this function, because it is not a number in JSON; it is probably a
  /// code.
  private static func look(ofNumber text: String) -> Look? {
    if let number = Int64(text) { return number.magnitude > JSON.exactInteger ? .greatInt : .int }
    guard text.utf8.contains(where: { ".eE".utf8.contains($0) }), let number = Double(text), number.isFinite
    else { return nil }
    return .double
  }

  // MARK: - The guess

  /// The columns, in the order in which their properties were first seen.
  ///
  /// - Parameter key: the name of the primary key. If it is nil, `_id` or `id` becomes the primary key, if each record
  ///   has a value of it, and no two values are equal.
  /// - Throws: `InterchangeError` if there is no property or too many, if a name is empty or too long, or if the
  ///   property `key` does not exist or can't be the primary key.
  package func columns(primaryKey key: String?) throws(InterchangeError) -> [Column] {
    guard !properties.isEmpty else { throw InterchangeError("The input has no object to guess from.") }
    guard properties.count <= TableSchema.maximumColumns else {
      throw InterchangeError(
        "The input has \(properties.count) properties, and a table has at most \(TableSchema.maximumColumns)."
      )
    }
    let guessed = properties.first { property in
      Self.keyNames.contains(property.name) && property.values?.count == records
        && type(property.looks).canHave(.unique) && !property.looks.contains(.null)
    }
    let keyName = key ?? guessed?.name
    if let key, !properties.contains(where: { $0.name.utf8.elementsEqual(key.utf8) }) {
      throw InterchangeError("There is no property \(key) in the input, which --primary-key names.")
    }
    var columns: [Column] = []
    for property in properties {
      guard (1...TableSchema.maximumNameLength).contains(property.name.utf8.count) else {
        throw InterchangeError(
          "A property has the name \"\(property.name)\": names have 1 to \(TableSchema.maximumNameLength) bytes."
        )
      }
      let isKey = keyName.map { $0.utf8.elementsEqual(property.name.utf8) } ?? false
      columns.append(try column(property, isKey: isKey))
    }
    return columns
  }

  private func column(_ property: Property, isKey: Bool) throws(InterchangeError) -> Column {
    let isList = property.arrays > 0 && property.looks.subtracting([.null]).isEmpty
    let looks = isList ? property.elements : property.looks.union(property.arrays > 0 ? [.other] : [])
    let type = type(looks)
    guard isKey else {
      // A missing list is an empty list, but a null can't be stored as a list.
      if isList, property.looks.contains(.null) { return Column(property.name, .mixed) }
      let isOptional = looks.contains(.null) || !isList && property.count < records || looks.isEmpty
      return Column(property.name, type, isOptional: isOptional, collection: isList ? .list : .none)
    }
    guard !isList, type.canHave(.unique) else {
      throw InterchangeError(
        "\(property.name) can't be the primary key: it holds values of the type \(type.name).")
    }
    return Column(property.name, type, isOptional: looks.contains(.null), index: .unique)
  }

  private func type(_ looks: Set<Look>) -> ColumnType {
    switch looks.subtracting([.null]) {
    case []: .string
    case [.bool]: .bool
    case [.int], [.greatInt], [.int, .greatInt]: .int64
    case [.int, .double], [.double]: .double
    case [.date]: .date
    case [.uuid]: .uuid
    case let texts where texts.isSubset(of: [.text, .date, .uuid]): .string
    default: isOfTexts ? .string : .mixed
    }
  }
}

extension CSVReader.Field {
  /// Whether the field is empty and has no quotation marks.
  package var isNull: Bool { text.isEmpty && !isQuoted }
}
