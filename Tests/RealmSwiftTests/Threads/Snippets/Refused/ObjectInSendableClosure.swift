// Refused: capture of 'value' with non-Sendable type
import Foundation
import RealmSwift

func run(_ body: @escaping @Sendable () -> Void) { body() }

extension Store {
  func snippet() {
    let value = ada
    run { print(value.name) }
  }
}
