// Refused: GeoCircle is not there yet. | geoWithin is not there yet. Store latitude and longitude | Distance is not there yet.
import Foundation
import RealmSwift

class Point: EmbeddedObject {
  @Persisted var type = "Point"
  @Persisted var coordinates: List<Double>
}

class Shop: Object {
  @Persisted var location: Point?
}

func snippet(_ realm: Realm, _ radius: Distance) -> Int {
  guard let near = GeoCircle(center: (48.2, 16.4), radius: radius) else { return 0 }
  return realm.objects(Shop.self).where { $0.location.geoWithin(near) }.count
}
