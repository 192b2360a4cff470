// Refused: non-Sendable type 'Person' | main actor-isolated property 'person'
import Foundation
import RealmSwift

@MainActor final class Model {
  var person = Person()
}

func snippet(_ model: Model) { Task.detached { print(model.person.name) } }
