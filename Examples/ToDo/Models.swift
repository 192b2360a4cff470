import Foundation
import RealmSwift

enum Priority: Int, PersistableEnum {
  case low = 1, normal, high
}

/// Something to do; its steps are parts of it.
final class Task: Object {
  /// Counted by its list, for people to name it by.
  @Persisted(indexed: true) var number: Int
  @Persisted var title: String
  @Persisted var priority = Priority.normal
  @Persisted var due: Date?
  @Persisted var done: Date?
  @Persisted var tags: MutableSet<String>
  @Persisted var steps: List<Step>
  @Persisted(originProperty: "tasks") var lists: LinkingObjects<TaskList>
}

final class Step: EmbeddedObject {
  @Persisted var text: String
  @Persisted var isDone = false
}

final class TaskList: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var tasks: List<Task>
  /// The number that the next task gets.
  @Persisted var counter = 0
}
