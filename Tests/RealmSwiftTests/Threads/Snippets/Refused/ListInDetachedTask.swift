// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func snippet() {
    let value = ada.friends
    Task.detached { print(value.count) }
  }
}
