// Answers: Grace Alan
import Foundation
import RealmSwift

func unmanagedObjectSent() async throws -> String {
  let reader = Reader()
  let grace = Person(2, "Grace")
  let name = await reader.name(grace)
  let alan = Person(3, "Alan")
  let task = Task.detached {
    alan.friends.append(Person(4, "Kurt"))
    return alan.name
  }
  return "\(name) \(await task.value)"
}
