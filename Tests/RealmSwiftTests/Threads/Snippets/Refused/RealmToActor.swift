// Refused: sending
import Foundation
import RealmSwift

extension Store {
  func snippet(_ reader: Reader) async { print(await reader.count(realm)) }
}
