import RealmSwift

/// A Task as a class.
final class TaskObject: Object {
  @Persisted(primaryKey: true) var id: Int64
  @Persisted var title: String
  @Persisted var priority: Int64
  @Persisted var owner: PersonObject?
  @Persisted var tags: List<String>
}

extension ObjectsEngine: TaskQuestions {
  func insertTasks(_ tasks: TaskSource) throws {
    let realm = try realm()
    try realm.write {
      for task in tasks {
        let object = TaskObject()
        object.id = task.id
        object.title = task.title
        object.priority = task.priority
        object.owner = try Self.person(task.owner, in: realm)
        object.tags.append(objectsIn: task.tags)
        realm.add(object)
      }
    }
  }

  func readOwnerNames() throws -> Answer {
    var answer = Answer()
    for task in try realm().objects(TaskObject.self) {
      guard let owner = task.owner else { throw BenchmarkError("a Task that nobody owns") }
      answer.add(owner.name)
    }
    return answer
  }

  func countTasks(of owners: [Int64]) throws -> Int {
    let realm = try realm()
    return try owners.reduce(0) { try $0 + Self.person($1, in: realm).tasks.count }
  }

  func countTasks(ofOwnersOlderThan age: Int64) throws -> Int {
    try realm().objects(TaskObject.self).where { $0.owner.age > age }.count
  }
}
