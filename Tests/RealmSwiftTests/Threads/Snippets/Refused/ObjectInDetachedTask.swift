// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func snippet() {
    let value = ada
    Task.detached { print(value.name) }
  }
}
