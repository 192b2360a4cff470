// Refused: capture of 'value' with non-Sendable type
import Foundation
import RealmSwift

func run(_ body: @escaping @Sendable () -> Void) { body() }

extension Store {
  func snippet() {
    let value = realm!
    run { print(value.objects(Person.self).count) }
  }
}
