import RealmInterchange
import RealmServer
import RealmStorage
import RealmSyncClient

/// Shows the objects of the server and of each device side by side.
struct LabShow {
  private let lab: Lab
  /// The most characters that a cell has.
  private static let widest = 28
  private static let absent = "(not there)"

  /// The content of one file: the texts of the properties of each object.
  private struct Side {
    let name: String
    var objects: [ObjectName: [String: String]] = [:]
    /// The names of the properties, by class.
    var properties: [String: [String]] = [:]
  }

  init(_ lab: Lab) { self.lab = lab }

  func show(_ object: ObjectName?) throws {
    var sides = [try side("server", lab.server.database)]
    for device in lab.devices { sides.append(try side(device.name, device.database)) }
    if let object { return try show(one: object, sides) }
    try print(table(sides))
    try lab.say("")
    try showState()
  }

  private func side(_ name: String, _ database: Database) throws -> Side {
    var side = Side(name: name)
    let snapshot = try database.snapshot()
    for schema in try snapshot.schemas() where !schema.isEmbedded {
      guard let key = schema.primaryKey, let table = try snapshot.table(schema.name) else { continue }
      let properties = schema.properties.filter { $0.index != .unique }
      side.properties[schema.name] = properties.map(\.name)
      var rows: [UInt64] = []
      try table.forEach { (row, _) in
        rows.append(row)
        return true
      }
      for row in rows {
        guard let value = try table.value(key, ofRow: row) else { continue }
        var texts: [String: String] = [:]
        for column in properties { texts[column.name] = try table.value(column, ofRow: row)?.text }
        side.objects[ObjectName(schema.name, value)] = texts
      }
    }
    return side
  }

  private static func isBefore(_ left: ObjectName, _ right: ObjectName) -> Bool {
    guard left.table == right.table else { return left.table < right.table }
    switch (left.key, right.key) {
    case (.int(let left), .int(let right)): return left < right
    case (.int, _): return true
    case (_, .int): return false
    case (.string(let left), .string(let right)): return left.utf8.lexicographicallyPrecedes(right.utf8)
    default: return left.key.text < right.key.text
    }
  }

  /// The properties of a class on all sides, with those of the server first.
  private func properties(_ table: String, _ sides: [Side]) -> [String] {
    var names: [String] = []
    for side in sides {
      for name in side.properties[table] ?? [] where !names.contains(name) { names.append(name) }
    }
    return names
  }

  // MARK: - The table

  /// A line for each object and for each of its properties, with a cell for each side.
  private func table(_ sides: [Side]) -> [[String]] {
    var lines = [[""] + sides.map { "  " + $0.name }]
    let objects = sides.reduce(into: Set<ObjectName>()) { $0.formUnion($1.objects.keys) }
    for object in objects.sorted(by: Self.isBefore) {
      let isThere = sides.map { $0.objects[object] != nil }
      lines.append(
        ["\(object.table) \(object.key.shortText)"]
          + marked(isThere.map { $0 ? "" : Self.absent }))
      for name in properties(object.table, sides) {
        let texts = sides.map { side in side.objects[object].map { $0[name] ?? "(no such property)" } }
        var cells = marked(texts.map { $0.map(Self.cut) ?? "" }, compared: texts)
        // If an object is missing on a side, only its first line says so.
        for (place, isThere) in isThere.enumerated() where !isThere { cells[place] = "" }
        lines.append(["  " + name] + cells)
      }
    }
    return lines
  }

  /// The cells with a mark on those that differ from the server's.
  private func marked(_ cells: [String], compared: [String?]? = nil) -> [String] {
    let compared = compared ?? cells
    return cells.enumerated().map { place, cell in
      compared[place] == compared[0] || (cell.isEmpty && place > 0 && compared[place] == "")
        ? "  " + cell : "* " + cell
    }
  }

  private static func cut(_ text: String) -> String {
    text.count <= widest ? text : text.prefix(widest - 1) + "…"
  }

  private func print(_ lines: [[String]]) throws {
    guard lines.count > 1 else { return try lab.say("There is no object yet.") }
    var widths = lines[0].map { _ in 0 }
    for line in lines {
      for (place, cell) in line.enumerated() { widths[place] = max(widths[place], cell.count) }
    }
    for line in lines {
      var text = zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        .joined(separator: "  ")
      while text.last == " " { text.removeLast() }
      try lab.say(text)
    }
    if lines.contains(where: { $0.dropFirst().contains { $0.hasPrefix("*") } }) {
      try lab.say("* differs from what the server has")
    }
  }

  // MARK: - One object

  private func show(one object: ObjectName, _ sides: [Side]) throws {
    guard sides.contains(where: { $0.objects[object] != nil }) else {
      throw LabProblem("Nobody has an object \(object.labText).", "Look by `show` what there is.")
    }
    for side in sides {
      guard let texts = side.objects[object] else {
        try lab.say("\(side.name) \(Self.absent)")
        continue
      }
      try lab.say(side.name)
      for name in side.properties[object.table] ?? [] { try lab.say("  \(name) = \(texts[name] ?? "null")") }
    }
  }

  // MARK: - States

  private func showState() throws {
    let state = lab.server.state
    let history = state.horizon == 0 ? "" : ", without the history before version \(state.horizon)"
    try lab.say("server: version \(state.version)\(history)")
    for device in lab.devices {
      let (version, isNew, refusals) = try device.reading { file in
        (file.position.version, file.number == .max, try file.refusals())
      }
      let pending = try device.pendingCount()
      var parts = [device.facts.isOnline ? "online" : "offline"]
      if device.facts.user != device.name { parts[0] += " as \(device.facts.user)" }
      parts.append(isNew ? "never registered" : "version \(version)")
      parts.append(pending == 0 ? "nothing pending" : "\(Wording.count(pending, "changeset")) pending")
      try lab.say("\(device.name): " + parts.joined(separator: ", "))
      if let problem = device.problem { try lab.say("  has stopped: \(problem)") }
      for (_, refusal) in refusals { try lab.say("  was refused \(refusal.text)") }
    }
  }
}
