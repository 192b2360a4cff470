import RealmInterchange
import RealmStorage

/// Reads the commands of the lab.
enum LabParser {
  /// The forms of the commands that do not begin with a device, by their first words.
  private static let forms: KeyValuePairs = [
    "new": "new DEVICE [as USER] [where CLASS \"PREDICATE\"]",
    "copy": "copy DEVICE to DEVICE", "sync": "sync [DEVICE]", "kill": "kill DEVICE",
    "rule": "rule CLASS read|write \"PREDICATE\"", "field": "field CLASS PROPERTY", "trim": "trim [all]",
    "save": "save server NAME", "restore": "restore server NAME", "restart": "restart server",
    "show": "show [CLASS KEY]", "pending": "pending DEVICE", "dismiss": "dismiss DEVICE", "log": "log",
    "help": "help", "quit": "quit",
  ]

  /// The forms of the changes that a device makes, by their words.
  private static let writes: KeyValuePairs = [
    "create": "DEVICE: create CLASS {_id: KEY, PROPERTY: VALUE, …}",
    "set": "DEVICE: set CLASS KEY PROPERTY = VALUE, …", "add": "DEVICE: add CLASS KEY PROPERTY NUMBER",
    "delete": "DEVICE: delete CLASS KEY", "append": "DEVICE: append CLASS KEY PROPERTY VALUE",
    "insert": "DEVICE: insert CLASS KEY PROPERTY PLACE VALUE",
    "move": "DEVICE: move CLASS KEY PROPERTY PLACE PLACE",
    "remove": "DEVICE: remove CLASS KEY PROPERTY PLACE",
    "subscribe": "DEVICE: subscribe CLASS \"PREDICATE\"", "unsubscribe": "DEVICE: unsubscribe CLASS",
  ]

  /// The words that can't be names of devices, because they begin a command or have another meaning.
  static let reserved: Set<String> = Set(forms.map(\.key)).union(["server", "all", "online", "offline", "to"])

  /// The command of a line; nil if the line has none.
  static func command(_ line: String) throws(LabProblem) -> LabCommand? {
    let tokens = try LabTokenReader.tokens(of: line)
    guard let first = tokens.first else { return nil }
    guard case .word(let word) = first else {
      throw LabProblem("A command does not begin with \(first.shown).", "Type help for the commands.")
    }
    if tokens.count > 1, tokens[1] == .mark(":") { return try write(word, Array(tokens.dropFirst(2))) }
    if tokens.count > 1, let isOnline = online(tokens[1]), !reserved.contains(word) {
      let words = LabWords(Array(tokens.dropFirst(2)), form: "DEVICE \(isOnline ? "online" : "offline")")
      try words.expectEnd()
      return .connect(word, isOnline: isOnline)
    }
    guard let form = forms.first(where: { $0.key == word })?.value else {
      throw LabProblem(
        "There is no command '\(word)'.",
        writes.contains { $0.key == word }
          ? "Name the device that writes before it, as in: a: \(word) …" : "Type help for the commands.")
    }
    var words = LabWords(Array(tokens.dropFirst()), form: form)
    let command = try command(word, &words)
    try words.expectEnd()
    return command
  }

  private static func online(_ token: LabToken) -> Bool? {
    switch token {
    case .word("online"): true
    case .word("offline"): false
    default: nil
    }
  }

  private static func command(_ word: String, _ words: inout LabWords) throws(LabProblem) -> LabCommand {
    switch word {
    case "new": return try make(&words)
    case "copy":
      let source = try words.name("a device")
      try words.expect("to")
      return .copy(source, to: try words.name("the name of a new device"))
    case "sync": return .sync(words.next == nil ? nil : try words.name("a device"))
    case "kill": return .kill(try words.name("a device"))
    case "rule":
      let table = try words.name("the name of a class")
      guard case .word(let word)? = words.next, let right = LabRule.Right(rawValue: word) else {
        throw words.missing("'read' or 'write'")
      }
      words.skip()
      return .rule(LabRule(table: table, right: right, predicate: try words.text("a predicate")))
    case "field":
      let table = try words.name("the name of a class")
      return .field(table: table, property: try words.name("the name of a property"))
    case "trim": return .trim(isAll: words.take("all"))
    case "save", "restore":
      try words.expect("server")
      let name = try words.name("a name for the copy")
      return word == "save" ? .save(name) : .restore(name)
    case "restart":
      try words.expect("server")
      return .restart
    case "show": return .show(words.next == nil ? nil : try words.object())
    case "pending": return .pending(try words.name("a device"))
    case "dismiss": return .dismiss(try words.name("a device"))
    case "log": return .log
    case "quit": return .quit
    default: return .help
    }
  }

  private static func make(_ words: inout LabWords) throws(LabProblem) -> LabCommand {
    let name = try words.name("the name of a new device")
    var (user, query): (String?, LabQuery?)
    if words.take("as") { user = try words.name("the name of a user") }
    if words.take("where") { query = try self.query(&words) }
    return .make(name, user: user, query: query)
  }

  private static func query(_ words: inout LabWords) throws(LabProblem) -> LabQuery {
    let table = try words.name("the name of a class")
    return LabQuery(table: table, predicate: try words.text("a predicate"))
  }

  // MARK: - What devices write

  private static func write(_ device: String, _ tokens: [LabToken]) throws(LabProblem) -> LabCommand {
    guard case .word(let word)? = tokens.first, let form = writes.first(where: { $0.key == word })?.value
    else {
      let found = tokens.first.map { "\($0.shown) is nothing that a device does." } ?? "Nothing stands there."
      let names = writes.map(\.key).joined(separator: ", ")
      throw LabProblem(found, "Behind the device and the colon stands one of: \(names).")
    }
    var words = LabWords(Array(tokens.dropFirst()), form: form)
    let command: LabCommand
    switch word {
    case "subscribe": command = .subscribe(device, try query(&words))
    case "unsubscribe": command = .unsubscribe(device, table: try words.name("the name of a class"))
    default: command = .write(device, try change(word, &words))
    }
    try words.expectEnd()
    return command
  }

  private static func change(_ word: String, _ words: inout LabWords) throws(LabProblem) -> LabChange {
    if word == "create" {
      let table = try words.name("the name of a class")
      return .create(table: table, try content(&words))
    }
    let object = try words.object()
    if word == "delete" { return .delete(object) }
    if word == "set" { return .set(object, try properties(&words, separator: "=")) }
    let property = try words.name("the name of a property")
    switch word {
    case "add": return .add(object, property: property, try words.wholeNumber("what is added"))
    case "append":
      return .list(object, property: property, .insert(try words.singleValue(), at: nil))
    case "insert":
      let place = try words.place("a place in the list")
      return .list(object, property: property, .insert(try words.singleValue(), at: place))
    case "move":
      let old = try words.place("a place in the list")
      return .list(object, property: property, .move(from: old, to: try words.place("the new place")))
    default: return .list(object, property: property, .remove(try words.place("a place in the list")))
    }
  }

  private static func content(_ words: inout LabWords) throws(LabProblem) -> [LabProperty] {
    try words.expect(mark: "{")
    let properties = words.next == .mark("}") ? [] : try properties(&words, separator: ":")
    try words.expect(mark: "}")
    return properties
  }

  private static func properties(
    _ words: inout LabWords, separator: Unicode.Scalar
  ) throws(LabProblem) -> [LabProperty] {
    var found: [LabProperty] = []
    repeat {
      let name = try words.name("the name of a property")
      guard !found.contains(where: { $0.name == name }) else {
        throw words.problem("The property '\(name)' is given twice.")
      }
      try words.expect(mark: separator)
      found.append(LabProperty(name: name, value: try words.value()))
    } while words.take(mark: ",")
    return found
  }
}
