// Refused: Copy the properties into a struct, and observe the object. | projectTo is not there yet. Use `map`
import Foundation
import RealmSwift

class PersonProjection: Projection<Person> {
  @Projected(\Person.name) var name
  @Projected(\Person.friends.projectTo.name) var friends
}

@MainActor func snippet(_ person: Person) -> NotificationToken {
  PersonProjection(projecting: person).observe { change in
    if case .change(let projection, _) = change { print(projection.name) }
  }
}
