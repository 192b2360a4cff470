// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func snippet() {
    let frozen = ada.freeze()
    Task.detached { print(frozen.name) }
    print(frozen.name)
  }
}
