// Refused: ProjectionObservable is not there yet. | Projection is not there yet. | ProjectedCollection is not there yet.
import Foundation
import RealmSwift

func snippet<P: ProjectionObservable>(_ projection: P) where P.Root == Person {
  print(projection.rootObject.name)
}
func snippet(_ projections: Results<Projection<Person>>) { print(projections.first?.rootObject.name ?? "") }
func snippet(_ names: ProjectedCollection<String>) { print(names.joined(separator: " ")) }
