// Refused: sending
import Foundation
import RealmSwift

actor Cache {
  var frozen: Person?

  func snippet(_ reader: Reader) async { if let frozen { print(await reader.name(frozen)) } }
}
