// Refused: sending
import Foundation
import RealmSwift

@MainActor final class Model {
  var person = Person()

  func rename() {
    let person = person
    Task.detached { person.name = "Alan" }
  }
}
