import Foundation
import RealmSwift
import RealmTestSupport

enum Rank: Int, PersistableEnum {
  case low = 1, high = 2
}

/// A class with links in both directions, lists, and values of all sizes.
final class Station: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted(indexed: true) var note = "none"
  @Persisted var next: Station?
  @Persisted var others: List<Station>
  @Persisted var rank = Rank.low
  @Persisted var height: Double?
  @Persisted var opened: Date?
  @Persisted var image: Data?
  @Persisted var words: List<String>
  @Persisted(originProperty: "others") var holders: LinkingObjects<Station>
  @Persisted(originProperty: "next") var previous: LinkingObjects<Station>
}

final class Visit: Object {
  @Persisted var number: Int
  @Persisted var station: Station?
  @Persisted var rank: Rank?
  @Persisted var ranks: List<Rank>
}

/// A small realm of objects, and a reader of all its content.
enum ObjectSample {
  static let types: [ObjectBase.Type] = [Station.self, Visit.self]

  static func configuration(_ path: String, _ key: [UInt8]?) -> Realm.Configuration {
    var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: path))
    configuration.encryptionKey = key.map { Data($0) }
    configuration.objectTypes = types
    return configuration
  }

  static func make(_ path: String, _ key: [UInt8]?) throws {
    let realm = try Realm(configuration: configuration(path, key))
    try realm.write {
      for index in 0..<24 {
        let station = Station()
        station.key = "s\(index)"
        station.note = "note \(index % 7)"
        station.height = index % 3 == 0 ? nil : Double(index) / 3
        station.opened = Date(timeIntervalSince1970: Double(index) * 86_400.5)
        station.image = index % 5 == 0 ? Data(repeating: UInt8(index), count: 40) : nil
        station.words.append(objectsIn: ["a", "word \(index)"])
        if let before = realm.objects(Station.self).last {
          station.others.append(objectsIn: [before, before])
        }
        station.next = realm.object(ofType: Station.self, forPrimaryKey: "s\(index / 2)")
        realm.add(station)
        let visit = Visit()
        (visit.number, visit.station, visit.rank) = (index, station, index % 2 == 0 ? .high : nil)
        visit.ranks.append(objectsIn: [.low, .high])
        realm.add(visit)
      }
      realm.create(Station.self, value: ["key": "long", "note": String(repeating: "x", count: 9000)])
    }
    try realm.write { realm.delete(realm.objects(Station.self)[3]) }
  }

  /// The whole content as text, read in all possible ways.
  static func content(_ realm: Realm) -> [String] {
    var lines: [String] = []
    let stations = realm.objects(Station.self)
    for station in stations {
      lines.append("\(station.key) \(station.note) \(station.next?.key ?? "") \(station.rank)")
      lines.append("\(String(describing: station.height)) \(String(describing: station.opened))")
      lines.append("\(station.image.map { Array($0) } ?? []) \(Array(station.words))")
      lines.append("\(Array(station.others.map(\.key))) \(station.holders.map(\.key).sorted())")
      lines.append("\(station.previous.map(\.key).sorted())")
      let found = realm.object(ofType: Station.self, forPrimaryKey: station.key)
      lines.append("\(found == station)")
    }
    for visit in realm.objects(Visit.self) {
      lines.append("\(visit.number) \(visit.station?.key ?? "") \(String(describing: visit.rank))")
      lines.append("\(Array(visit.ranks))")
    }
    lines.append("\(stations.where { $0.note == "note 3" }.map(\.key).sorted())")
    lines.append("\(stations.where { $0.next.note == "note 1" }.sorted(by: \.note).map(\.key).sorted())")
    lines.append("\(stations.where { $0.note.contains("te 2") }.count) \(stations.count)")
    lines.append("\(String(describing: stations.max(of: \.height)))")
    lines.append("\(Array(stations.sorted(byKeyPath: "key").map(\.key)))")
    return lines
  }

  /// Makes a change that reads and writes objects, and checks the numbers of objects after it.
  static func change(_ realm: Realm) throws {
    let (stations, visits) = (realm.objects(Station.self).count, realm.objects(Visit.self).count)
    // A forged file may have fewer objects.
    guard stations > 1 else { return }
    try realm.write {
      realm.create(Station.self, value: ["key": "new"])
      realm.objects(Station.self)[0].note = "changed"
      realm.delete(realm.objects(Station.self)[1])
      realm.delete(realm.objects(Visit.self).where { $0.rank == .high })
    }
    guard realm.objects(Station.self).count == stations, realm.objects(Visit.self).count == visits - 12 else {
      throw Violation("other numbers of objects after a change")
    }
  }
}
