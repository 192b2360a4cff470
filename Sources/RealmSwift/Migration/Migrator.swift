import Foundation
import RealmStorage

/// Runs the migration block of a program, in the transaction that makes a file fit the program's classes.
final class Migrator {
  private let steps: SchemaSteps
  private let file: RealmFile
  /// The session that reads the file as it was.
  private let old: RealmSession
  /// The session that writes in the transaction.
  private let new: RealmSession
  /// Keeps the sessions alive.
  private let lives: [SessionLife]
  private let notes: MigrationNotes
  private var progress: MigrationProgress
  private var isOpen = true
  /// The names of tables that are deleted at the end.
  private var doomed: Set<String> = []
  /// Texts that say which properties were renamed.
  private(set) var renamed: [String] = []

  private var models: [ObjectModel] { steps.update.models }
  private var transaction: WriteTransaction { steps.transaction }

  /// Prepares the migration.
  ///
  /// - Precondition: `steps` are prepared.
  init(_ file: RealmFile, _ steps: SchemaSteps) throws {
    self.file = file
    self.steps = steps
    let base = try steps.transaction.baseSnapshot()
    let tables = try base.schemas()
    old = RealmSession(migrating: file, base, nil)
    new = RealmSession(migrating: file, base, steps.transaction)
    lives = [RealmSession.begin(old), RealmSession.begin(new)]
    notes = MigrationNotes(old: old, new: new)
    let rows = try tables.reduce(0) { $0 + (try base.table($1.name)?.count ?? 0) }
    progress = MigrationProgress(rows: rows, steps.update.configuration.migrationProgress)
    old.tableModels = file.classes.models(of: tables)
    new.migration = notes
    try showNewTables()
  }

  /// Makes the new objects show the properties of the program's classes. Objects of a class that the program does not have
  /// show all columns. Primary keys can be set.
  private func showNewTables() throws {
    let tables = try transaction.schemas()
    new.tableModels = file.classes.models(of: tables) { table in
      let schema = ClassSchema(table, among: tables)
      guard let model = self.models.first(where: { $0.name == table.name }) else { return schema }
      let shown = Set(model.schema.stored.map(\.columnName))
      return ClassSchema(
        schema.name, schema.kind,
        schema.properties.filter { shown.contains($0.columnName) }.map { $0.withoutKey })
    }
  }

  /// Runs the migration block.
  ///
  /// - Returns: the names of the tables that are to be deleted.
  /// - Throws: what the block throws; `Realm.Error.schemaMismatch` if the block did something that is not possible.
  func run() throws -> Set<String> {
    defer { end() }
    if let block = steps.update.configuration.migrationBlock {
      let tables = try transaction.baseSnapshot().schemas()
      let migration = Migration(
        self,
        old: Schema(
          objectSchema: tables.map { ObjectSchema(ClassSchema($0, among: tables), DynamicObject.self) }),
        new: Schema(objectSchema: models.map { ObjectSchema($0.schema, $0.type) }))
      try block(migration, steps.update.version)
    }
    if let problem = notes.problem { throw steps.update.mismatch(problem) }
    isOpen = false
    return doomed
  }

  /// Reports that the migration is done. It is called after the transaction was committed or, in a dry run, after
  /// `run`.
  func finish() { progress.finish() }

  private func end() {
    isOpen = false
    old.endMigration()
    new.endMigration()
  }

  func checkOpen() -> Migrator {
    if !isOpen { raise("Migration that is over", "a Migration is of use inside of its migrationBlock only.") }
    return self
  }

  private func context(_ name: String, in session: RealmSession) -> ObjectContext? {
    guard let binding = session.tableModels?.binding(named: name) else { return nil }
    session.makeRoom(for: binding)
    return session.context(binding)
  }

  // MARK: - Objects

  func forEachObject(of name: String, _ block: MigrationObjectEnumerateBlock) rethrows {
    let shown = models.contains { $0.name == name } ? context(name, in: new) : nil
    guard let before = context(name, in: old) else {
      guard let shown else { return }
      for object in Results<DynamicObject>(_CollectionContent(shown)) { try block(nil, object) }
      return
    }
    let counts = progress.begin(name)
    for object in Results<DynamicObject>(_CollectionContent(before)) {
      let row = object.row
      defer { if counts { progress.step() } }
      guard let shown else {
        try block(object, nil)
        continue
      }
      guard shown.hasRow(row, birth: new.generation) else { continue }
      try block(object, shown.object(row).asDynamic)
    }
  }

  private func known(_ name: String) -> ObjectContext {
    guard models.contains(where: { $0.name == name }), let context = context(name, in: new) else {
      raise(
        "Class not in the realm",
        "\(name) is not among the classes of the program, so that a migration makes no object of it; they are "
          + "\(models.map(\.name).joined(separator: ", ")).")
    }
    return context
  }

  func create(_ name: String, _ value: Any) -> DynamicObject {
    let context = known(name)
    if context.binding.model.isEmbedded {
      raise(
        "Embedded object without an owner",
        "objects of \(name) belong to another each; give the values to a property of the owner.")
    }
    let object = DynamicObject(DynamicDraft(context.binding.model))
    let reader = ValueReader(new)
    reader.fill(object, from: value)
    ObjectAdder(new, .error, given: reader.given).add(object)
    return object
  }

  func delete(_ object: DynamicObject) {
    guard let context = object.context, context.session === new else {
      raise("Object of another realm", "a migration deletes new objects of its own only.")
    }
    let wasThere = new.writing(context.binding) { (table) throws(StorageError) in
      try table.remove(object.row)
    }
    if !wasThere { context.stopMissing(nil, isNew: false) }
  }

  func deleteData(of name: String) -> Bool {
    guard let context = context(name, in: new), !doomed.contains(name) else { return false }
    reading { () throws(StorageError) in try transaction.removeAllRows(of: [name]) }
    new.didWrite()
    if !models.contains(where: { $0.name == context.binding.model.name }) { doomed.insert(name) }
    return true
  }

  // MARK: - Names

  func rename(_ from: String, to: String, in name: String) {
    let what = "\(name).\(from) can't be renamed to \(to)"
    guard let model = models.first(where: { $0.name == name }) else {
      return notes.note("\(what): the program has no class \(name)")
    }
    guard let old = old.tableModels?.binding(named: name)?.table else {
      return notes.note("\(what): the file has no class \(name)")
    }
    guard old.column(from) != nil else {
      let names = old.properties.map(\.name).joined(separator: ", ")
      return notes.note("\(what): the file has no property \(from) of it; it has \(names)")
    }
    guard model.position(ofColumn: from) == nil else {
      return notes.note(
        "\(what): the class has a property \(from) still, which the values of the old one are of")
    }
    guard let position = model.position(ofColumn: to) else {
      return notes.note("\(what): the class has no property \(to)")
    }
    guard old.column(to) == nil else {
      return notes.note("\(what): the file has a property \(to) of it already")
    }
    do {
      try rename(from, to: model.properties[position], of: model)
    } catch let error as StorageError {
      raise("Unwritable realm", error.description)
    } catch {
      notes.note("\(what): \(error)")
    }
  }

  private func rename(_ from: String, to property: ModelProperty, of model: ObjectModel) throws {
    guard let table = try transaction.table(model.name), table.position(of: from) != nil else {
      return notes.note("\(model.name).\(from) is renamed twice")
    }
    if let made = table.position(of: property.columnName) { try table.dropColumn(made) }
    guard let position = table.position(of: from) else { return }
    try table.renameColumn(position, to: property.columnName)
    try steps.fit(table, position, to: property, of: model)
    renamed.append("property \(model.name).\(from) was renamed to \(property.name)")
    if let binding = new.tableModels?.binding(named: model.name) { new.forgetWritten(binding) }
    try showNewTables()
  }
}

extension PropertySchema {
  /// The same property without the role of a primary key, so that it can be set.
  fileprivate var withoutKey: PropertySchema {
    guard role == .primaryKey else { return self }
    return PropertySchema(
      name, columnName: columnName, type, form, isOptional: isOptional, target: target, .plain)
  }
}

/// Reports the part of a migration that is done, in steps of a hundredth.
private struct MigrationProgress {
  private let rows: Int
  private let tell: (@Sendable (Double) -> Void)?
  /// The names of the classes that were enumerated.
  private var counted: Set<String> = []
  private var sum = 0
  private var told = 0

  init(rows: Int, _ tell: (@Sendable (Double) -> Void)?) {
    self.rows = max(rows, 1)
    self.tell = tell
  }

  /// Begins to enumerate a class, and returns whether its objects count. They count only in the first enumeration of
  /// the class.
  mutating func begin(_ name: String) -> Bool { counted.insert(name).inserted }

  mutating func step() {
    guard let tell else { return }
    sum += 1
    let hundredth = sum * 100 / rows
    guard hundredth > told, hundredth < 100 else { return }
    told = hundredth
    tell(Double(hundredth) / 100)
  }

  func finish() { tell?(1) }
}
