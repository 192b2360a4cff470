// Refused: is not concurrency-safe
import Foundation
import RealmSwift

let nobody = Person()
