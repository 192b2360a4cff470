import Foundation
import RealmServer
import RealmStorage
import RealmSync

/// A random log of the model of the merge rules (`Tests/MergeModel`), with the results that the model made of it.
package struct ModelSchedule: Sendable {
  package enum Step: Sendable {
    /// - querySets: The objects that the replica's query sets show, as a mask over the values of their filter field.
    case entry(LogRecord, querySets: Int?)
    case result(Result)
  }

  package struct Result: Sendable, Equatable {
    package var version: UInt64
    package var isAccepted: Bool
    package var stamp: Stamp
    /// The objects and properties that are refused, as sorted texts.
    package var refused: [String]
  }

  package var seed = 0
  package var steps: [Step] = []
  package var horizon: UInt64 = 0
  package var mark = Stamp(word: 0)
  /// The existing objects, as texts.
  package var objects: [Int64: String] = [:]
  package var properties: [String] = []

  /// One unit of the model's time is `unit` milliseconds, and has `stampsOfUnit` stamps.
  static let unit = 5_000
  private static let stampsOfUnit = 500

  static func stamp(_ tick: Int) -> Stamp {
    let start = Stamp(milliseconds: UInt64(tick / stampsOfUnit * unit))
    return Stamp(word: start.word + UInt64(tick % stampsOfUnit))
  }

  /// Reads the schedules in lines of text, one after another.
  package static func read(_ lines: some Sequence<String>, _ body: (ModelSchedule) throws -> Void) throws {
    var reader = ScheduleReader()
    for line in lines {
      if let schedule = try reader.add(line) { try body(schedule) }
    }
  }
}

package struct ScheduleError: Error, CustomStringConvertible {
  package var description: String
}

private struct ScheduleReader {
  private var schedule = ModelSchedule()
  private var upload: (Upload, time: UInt64, querySets: Int)?
  private var objects: [(name: Int64, instructions: [Instruction])] = []
  private var schema: [SchemaInstruction] = []
  private var tag: UInt64 = 0

  /// The schedule that ends with the line; nil if none does.
  mutating func add(_ line: String) throws -> ModelSchedule? {
    let words = line.split(separator: " ").map(String.init)
    guard let first = words.first else { return nil }
    let line = Line(words)
    if line.words[0] != "entry", upload != nil, words[0] == "result" { finishUpload() }
    switch first {
    case "seed":
      schedule = ModelSchedule()
      schedule.seed = Int(words[1]) ?? 0
    case "entry": try entry(line)
    case "result": schedule.steps.append(.result(try result(line)))
    case "state":
      schedule.horizon = UInt64(try line.number("horizon"))
      schedule.mark = ModelSchedule.stamp(try line.number("mark"))
    case "object": schedule.objects[Int64(words[1]) ?? 0] = words.count > 2 ? words[2] : ""
    case "property": schedule.properties.append("x\(words[1]) \(words[2])")
    case "kill": break
    case "end": return schedule
    default: try instruction(first, line)
    }
    return nil
  }

  private mutating func append(_ time: Int, _ entry: LogEntry, querySets: Int? = nil) {
    tag += 1
    schedule.steps.append(
      .entry(LogRecord(tag: tag, time: UInt64(time * ModelSchedule.unit), entry), querySets: querySets))
  }

  private mutating func entry(_ line: Line) throws {
    let time = try line.number("time")
    switch line.words[2] {
    case "register":
      let predecessor = UInt64(try line.number("predecessor"))
      let scope = try line.number("scope")
      append(
        time,
        .register(
          Registration(
            replica: UInt64(try line.number("replica")), user: "user \(try line.number("user"))",
            partition: scope == 0 ? nil : .int(Int64(scope - 1)),
            predecessor: predecessor == 0 ? nil : predecessor)))
    case "upload":
      let replica = UInt64(try line.number("replica"))
      upload = (
        Upload(
          replica: replica, user: "user \(try line.number("user"))",
          sequence: UInt64(try line.number("sequence")), previous: Self.hash(try line.number("previous")),
          hash: Self.hash(try line.number("content")),
          base: UInt64(bitPattern: Int64(try line.number("base"))),
          stamp: ModelSchedule.stamp(try line.number("stamp")), querySets: [1],
          replicas: [0], changeset: Changeset()),
        UInt64(time), try line.number("sets")
      )
      (objects, schema) = ([], [])
    case "trim": append(time, .trim(horizon: UInt64(try line.number("horizon"))))
    case "rights":
      append(
        time,
        .rules(
          user: "user \(try line.number("user"))",
          AccessRules(
            read: ModelClass.filters(try line.number("read")),
            write: ModelClass.filters(try line.number("write")))))
    case "retire": append(time, .retire(replica: UInt64(try line.number("replica"))))
    case "flexible": append(time, .flexible(replica: UInt64(try line.number("replica"))))
    default: throw ScheduleError(description: "unknown entry \(line.words)")
    }
  }

  private static func hash(_ number: Int) -> [UInt8] {
    number == 0 ? [] : Array("\(number)".utf8).contentHash
  }

  private mutating func finishUpload() {
    guard let (found, time, querySets) = upload else { return }
    var made = found
    upload = nil
    made.changeset.schema = schema
    made.changeset.objects = objects.map {
      ObjectInstructions(ObjectName(ModelClass.name, .int($0.name)), $0.instructions)
    }
    var replicas: [UInt64] = [0]
    made.changeset = made.changeset.mapReplicas { number in
      let known = replicas.firstIndex(of: UInt64(number))
      if known == nil { replicas.append(UInt64(number)) }
      return UInt32(known ?? replicas.count - 1)
    }
    made.replicas = replicas
    append(Int(time), .upload(made), querySets: querySets)
  }

  private func result(_ line: Line) throws -> ModelSchedule.Result {
    let objects = line.text("refused").map { $0.split(separator: ",").map(String.init) } ?? []
    let properties = line.text("refusedProperties").map { $0.split(separator: ",").map { "x\($0)" } } ?? []
    return ModelSchedule.Result(
      version: UInt64(line.words[1]) ?? 0, isAccepted: line.words[2] == "accepted",
      stamp: ModelSchedule.stamp(try line.number("eff")), refused: (objects + properties).sorted())
  }

  // MARK: - Instructions

  private mutating func instruction(_ kind: String, _ line: Line) throws {
    if kind == "addProperty" {
      let type: ColumnType = try line.number("type") == 1 ? .int64 : .string
      schema.append(
        .addProperty(
          table: ModelClass.name,
          PropertyDefinition("x\(try line.number("property"))", type, isOptional: true)))
      return
    }
    let object = Int64(try line.number("object"))
    let made = try made(kind, line)
    if let index = objects.firstIndex(where: { $0.name == object }) {
      objects[index].instructions.append(made)
    } else {
      objects.append((object, [made]))
    }
  }

  private func made(_ kind: String, _ line: Line) throws -> Instruction {
    switch kind {
    case "create": return .create
    case "delete": return .delete
    default: break
    }
    let path = try ModelClass.path(line.text("path") ?? "")
    func id(_ name: String) throws -> ElementID { ModelClass.id(try line.number(name)) }
    switch kind {
    case "set": return .set(path, try value(line), isDefault: line.words.contains("default"))
    case "add": return .add(path, Int64(try line.number("by")))
    case "newEmbedded": return .newEmbedded(path)
    case "killEmbedded":
      if case .key? = path.steps.last { return .set(path, .absent, isDefault: false) }
      return .killEmbedded(path)
    case "insert":
      return .insert(path, try id("id"), left: try id("left"), right: try id("right"), try value(line))
    case "move":
      return .move(path, try id("element"), id: try id("id"), left: try id("left"), right: try id("right"))
    case "erase": return .erase(path, try id("element"))
    case "setInsert": return .setInsert(path, try value(line))
    case "setErase": return .setErase(path, try value(line))
    case "clear": return .clear(path, ModelClass.kind(path))
    default: throw ScheduleError(description: "unknown instruction \(line.words)")
    }
  }

  private func value(_ line: Line) throws -> InstructionValue {
    let text = line.text("value") ?? ""
    if text == "null" { return .value(.null) }
    if text == "absent" { return .absent }
    if text == "embedded" { return .embedded }
    if text.hasPrefix("text:") { return .value(.string(String(text.dropFirst(5)))) }
    if text.hasPrefix("link:"), let key = Int64(text.dropFirst(5)) {
      return .link(ObjectName(ModelClass.name, .int(key)))
    }
    guard let number = Int64(text) else { throw ScheduleError(description: "no value in \(line.words)") }
    return .value(.int(number))
  }
}

/// The words of a line. Some of them are a name that is followed by its value.
private struct Line {
  let words: [String]

  init(_ words: [String]) { self.words = words }

  func text(_ name: String) -> String? {
    for word in words where word.hasPrefix(name + "=") { return String(word.dropFirst(name.count + 1)) }
    return nil
  }

  func number(_ name: String) throws -> Int {
    guard let number = text(name).flatMap({ Int($0) }) else {
      throw ScheduleError(description: "no \(name) in \(words)")
    }
    return number
  }
}
