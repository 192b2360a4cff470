import ArgumentParser
import Foundation
import RealmSwift

/// A to-do list on the command line: models, relationships, updates and queries in one small program.
@main
struct ToDo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "todo", abstract: "Keeps lists of what is to be done.",
    subcommands: [Add.self, Show.self, Done.self, Check.self, Remove.self, Export.self],
    defaultSubcommand: Show.self)
}

/// The realm that a command works on.
struct Place: ParsableArguments {
  @Option(help: "The file of the lists.")
  var file = "todo.realm"

  @Option(help: "The list.")
  var list = "home"

  func open() throws -> Realm {
    try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: file),
        shouldCompactOnLaunch: { total, used in total > 1 << 20 && used < total / 2 },
        objectTypes: [TaskList.self, Task.self, Step.self]))
  }

  /// - Throws: where the list has no such task.
  func task(_ number: Int, in realm: Realm) throws -> Task {
    guard
      let found = realm.object(ofType: TaskList.self, forPrimaryKey: list)?.tasks.where({
        $0.number == number
      }).first
    else { throw ValidationError("The list \(list) has no task \(number).") }
    return found
  }
}

struct Add: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Adds a task.")
  @OptionGroup var place: Place
  @Argument var title: String
  @Option(help: "1 low, 2 normal, 3 high.") var priority = Priority.normal.rawValue
  @Option(help: "A day, as 2026-12-01.") var due: String?
  @Option var tag: [String] = []
  @Option var step: [String] = []

  func run() throws {
    let realm = try place.open()
    let day = try due.map { try Date($0, strategy: .iso8601.year().month().day()) }
    guard let level = Priority(rawValue: priority) else { throw ValidationError("A priority is 1, 2 or 3.") }
    let task = Task(
      value: [
        "title": title, "priority": level, "due": day as Any, "tags": tag, "steps": step.map { ["text": $0] },
      ]
        as [String: Any])
    try realm.write {
      let list = realm.create(TaskList.self, value: ["name": place.list], update: .modified)
      list.increment(\.counter)
      task.number = list.counter
      list.tasks.append(task)
    }
    print("\(place.list) \(task.number): \(task.title)")
  }
}

struct Show: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows what is to be done, the most urgent first.")
  @OptionGroup var place: Place
  @Flag(help: "What is done too.") var all = false
  @Option(help: "With this tag only.") var tag: String?

  func run() throws {
    let realm = try place.open()
    guard let list = realm.object(ofType: TaskList.self, forPrimaryKey: place.list) else {
      print("There is no list \(place.list).")
      return
    }
    var tasks = list.tasks.sorted(by: [
      .init(keyPath: "priority", ascending: false), .init(keyPath: "number"),
    ])
    if !all { tasks = tasks.where { $0.done == nil } }
    if let tag { tasks = tasks.where { $0.tags.contains(tag) } }
    for task in tasks { print(line(task)) }
    print("\(tasks.count) of \(list.tasks.count)")
  }

  private func line(_ task: Task) -> String {
    var parts = ["\(task.done == nil ? "[ ]" : "[x]") \(task.number) \(task.title)"]
    if task.priority == .high { parts.append("!") }
    if let due = task.due { parts.append("until \(due.formatted(.iso8601.year().month().day()))") }
    if !task.tags.isEmpty { parts.append("#" + task.tags.joined(separator: " #")) }
    if !task.steps.isEmpty { parts.append("(\(task.steps.count { $0.isDone })/\(task.steps.count))") }
    return parts.joined(separator: " ")
  }
}

struct Done: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Notes that a task is done.")
  @OptionGroup var place: Place
  @Argument var number: Int

  func run() throws {
    let realm = try place.open()
    let task = try place.task(number, in: realm)
    try realm.write {
      task.done = Date()
      for step in task.steps { step.isDone = true }
    }
    print("done: \(task.title)")
  }
}

struct Check: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Notes that a step of a task is done.")
  @OptionGroup var place: Place
  @Argument var number: Int
  @Argument(help: "Which step, from 1.") var step: Int

  func run() throws {
    let realm = try place.open()
    let task = try place.task(number, in: realm)
    guard task.steps.indices.contains(step - 1) else {
      throw ValidationError("\(task.title) has \(task.steps.count) steps.")
    }
    try realm.write { task.steps[step - 1].isDone = true }
    print("\(task.title): \(task.steps.count { !$0.isDone }) steps left")
  }
}

struct Remove: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Removes a task, with its steps.")
  @OptionGroup var place: Place
  @Argument var number: Int

  func run() throws {
    let realm = try place.open()
    let task = try place.task(number, in: realm)
    let title = task.title
    try realm.write { realm.delete(task) }
    print("removed: \(title)")
  }
}

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copies all lists to another file, which is not encrypted.")
  @OptionGroup var place: Place
  @Argument var target: String

  func run() throws {
    try place.open().writeCopy(toFile: URL(fileURLWithPath: target))
    print("copied to \(target)")
  }
}
