// Refused: non-Sendable
import Foundation
import RealmSwift

@MainActor func snippet(_ store: Store) async { print(await store.ada.name) }
