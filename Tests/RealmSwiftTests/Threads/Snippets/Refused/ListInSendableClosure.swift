// Refused: capture of 'value' with non-Sendable type
import Foundation
import RealmSwift

func run(_ body: @escaping @Sendable () -> Void) { body() }

extension Store {
  func snippet() {
    let value = ada.friends
    run { print(value.count) }
  }
}
