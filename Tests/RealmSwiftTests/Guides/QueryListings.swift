import Foundation
import RealmSwift

// listing: query models
class Artist: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var country: String?
  @Persisted(originProperty: "artist") var tracks: LinkingObjects<Track>
}

class Track: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted(indexed: true) var title: String
  @Persisted(indexed: true) var year: Int
  @Persisted var seconds: Double
  @Persisted var rating: Int?
  @Persisted var artist: Artist?
  @Persisted var tags: List<String>
  @Persisted var plays: Map<String, Int>
  @Persisted var extra: AnyRealmValue
}

class Playlist: Object {
  @Persisted var name: String
  @Persisted var tracks: List<Track>
}

func titles(_ tracks: some Sequence<Track>) -> [String] { tracks.map { $0.title } }
// end

private func music() throws -> Realm {
  let realm = try Realm(
    configuration: Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString, objectTypes: [Track.self, Artist.self, Playlist.self]))
  let (takes, label) = (List<AnyRealmValue>(), Map<String, AnyRealmValue>())
  takes.append(objectsIn: [.int(1), .int(2)])
  label["label"] = .string("Philips")
  label["takes"] = .list(takes)
  try realm.write {
    let john = realm.create(Artist.self, value: ["name": "John Coltrane", "country": "United States"])
    let elis = realm.create(Artist.self, value: ["name": "Elis Regina", "country": "Brazil"])
    let train = Track(value: [1, "Blue Train", 1958, 643.0, 5, john, ["jazz", "live"]] as [Any])
    let naima = Track(value: [2, "Naima", 1960, 261.0, NSNull(), john, ["jazz", "ballad"]] as [Any])
    let waters = Track(value: [3, "Águas de Março", 1972, 212.0, 5, elis, ["bossa nova"]] as [Any])
    let alice = Track(value: [4, "Blues for Alice", 1951, 165.0, 3, NSNull(), ["jazz", "bebop"]] as [Any])
    (train.plays["ann"], train.plays["bob"], naima.plays["ann"], alice.plays["bob"]) = (12, 1, 3, 7)
    (train.extra, naima.extra, waters.extra) = (.string("mono"), .int(4), .dictionary(label))
    realm.add([train, naima, waters, alice])
    realm.create(Playlist.self, value: ["name": "Evening", "tracks": [naima, waters]] as [String: Any])
    realm.create(Playlist.self, value: ["name": "Jazz", "tracks": [train, naima, alice]] as [String: Any])
  }
  return realm
}

extension Listings {
  static let typedQueries: [String: Listing] = [
    "query compare": { print in
      let realm = try music()
      // listing: query compare
      let tracks = realm.objects(Track.self)
      print(titles(tracks.where { $0.year < 1960 }))
      print(titles(tracks.where { $0.rating == 5 && $0.seconds > 300 }))
      print(titles(tracks.where { $0.rating == nil || !($0.year > 1955) }))
      print(titles(tracks.where { $0.year.contains(1955..<1960) }))
      print(titles(tracks.where { $0.year.in([1951, 1972]) }))
      // end
    },
    "query texts": { print in
      let tracks = try music().objects(Track.self)
      // listing: query texts
      print(titles(tracks.where { $0.title.starts(with: "Blue") }))
      print(titles(tracks.where { $0.title.contains("TRAIN", options: .caseInsensitive) }))
      print(
        titles(
          tracks.where { $0.title.ends(with: "marco", options: [.caseInsensitive, .diacriticInsensitive]) }))
      print(titles(tracks.where { $0.title.like("?ai*") }))
      // end
    },
    "query links": { print in
      let realm = try music()
      let tracks = realm.objects(Track.self)
      // listing: query links
      print(titles(tracks.where { $0.artist.country == "Brazil" }))
      print(titles(tracks.where { $0.artist == nil }))
      let busy = realm.objects(Artist.self).where { $0.tracks.count >= 2 }
      print(Array(busy.map(\.name)))
      let modern = realm.objects(Artist.self).where { $0.tracks.year > 1970 }
      print(Array(modern.map(\.name)))
      // end
    },
    "query collections": { print in
      let realm = try music()
      let tracks = realm.objects(Track.self)
      // listing: query collections
      print(titles(tracks.where { $0.tags.contains("live") }))
      print(titles(tracks.where { !$0.tags.contains("jazz") }))
      print(titles(tracks.where { $0.tags.containsAny(in: ["ballad", "bebop"]) }))
      let playlists = realm.objects(Playlist.self)
      print(Array(playlists.where { $0.tracks.seconds.sum > 1000 }.map(\.name)))
      print(Array(playlists.where { $0.tracks.year.max > 1970 && $0.tracks.count < 3 }.map(\.name)))
      // A list is filtered like all objects of a class.
      print(titles(playlists[0].tracks.where { $0.year > 1970 }))
      // end
    },
    "query subqueries": { print in
      let playlists = try music().objects(Playlist.self)
      // listing: query subqueries
      // One track is short, and one has five stars: they may differ.
      let either = playlists.where { $0.tracks.seconds < 200 && $0.tracks.rating == 5 }
      // One track is both.
      let both = playlists.where { ($0.tracks.seconds < 200 && $0.tracks.rating == 5).count > 0 }
      print(Array(either.map(\.name)), Array(both.map(\.name)))
      // end
    },
    "query maps": { print in
      let tracks = try music().objects(Track.self)
      // listing: query maps
      print(titles(tracks.where { $0.plays["ann"] > 10 }))
      print(titles(tracks.where { $0.plays.keys == "bob" }))
      print(titles(tracks.where { $0.plays.values > 5 && $0.plays.count == 1 }))
      print(titles(tracks.where { $0.extra == .int(4) }))
      print(titles(tracks.where { $0.extra["label"] == .string("Philips") }))
      print(titles(tracks.where { $0.extra["takes"].any == .int(2) && $0.extra["takes"][0] == .int(1) }))
      // end
    },
  ]

  static let textQueries: [String: Listing] = [
    "query formats": { print in
      let tracks = try music().objects(Track.self)
      // listing: query formats
      print(titles(tracks.filter("year > %@ AND title BEGINSWITH[c] %@", 1955, "blue")))
      print(titles(tracks.filter("%K IN %@", "artist.name", ["Elis Regina", "Nobody"])))
      print(titles(tracks.filter("ANY tags == 'bebop' OR plays['ann'] > 10")))
      print(titles(tracks.filter("SUBQUERY(artist.tracks, $t, $t.rating == nil).@count == 1")))
      // end
    },
    "query predicates": { print in
      let tracks = try music().objects(Track.self)
      // listing: query predicates
      let old = NSPredicate(format: "year < %@", 1960)
      let good = NSPredicate(format: "rating >= %@", argumentArray: [4])
      let both = NSCompoundPredicate(andPredicateWithSubpredicates: [old, good])
      print(titles(tracks.filter(both)))
      // end
    },
    "query language": { print in
      let tracks = try music().objects(Track.self)
      // listing: query language
      print(titles(try tracks.query("year > $0 AND tags == $1", 1955, "jazz")))
      print(titles(try tracks.query("ALL tags IN {'jazz', 'bebop'}")))
      print(titles(try tracks.query("seconds / 60 > 4 SORT(year DESC)")))
      print(titles(try tracks.query("TRUEPREDICATE SORT(seconds DESC) DISTINCT(artist.name) LIMIT(2)")))
      // end
    },
    "query errors": { print in
      let tracks = try music().objects(Track.self)
      // listing: query errors
      for text in ["year > 1955 AND titel CONTAINS 'a'", "year > ", "year > $3"] {
        do {
          print(titles(try tracks.query(text)))
        } catch {
          print(error)
        }
      }
      // end
    },
    "query order": { print in
      let tracks = try music().objects(Track.self)
      // listing: query order
      print(titles(tracks.sorted(by: \.year, ascending: false)))
      print(titles(tracks.sorted(by: ["artist.name", SortDescriptor(keyPath: "year", ascending: false)])))
      // The longest track of each artist.
      print(titles(tracks.sorted(by: \.seconds, ascending: false).distinct(by: ["artist.name"])))
      print(titles(tracks.sorted(by: \.year).prefix(2)))
      // end
    },
    "query first": { print in
      let tracks = try music().objects(Track.self)
      // listing: query first
      let jazz = tracks.where { $0.tags.contains("jazz") }
      print(jazz.isEmpty, jazz.first?.title ?? "", jazz.count)
      print(tracks.sorted(by: \.year).index(matching: { $0.title == "Naima" }) ?? -1)
      // end
    },
    "query keyed": { print in
      let realm = try music()
      let tracks = realm.objects(Track.self)
      // listing: query keyed
      print(tracks.value(forKey: "year") as? [Int] ?? [])
      print(tracks.value(forKeyPath: "@max.year") as? Int ?? 0)
      print(tracks.value(forKeyPath: "@distinctUnionOfArrays.tags") as? [String] ?? [])
      try realm.write { tracks.where { $0.rating == nil }.setValue(1, forKey: "rating") }
      print(tracks[1].rating ?? 0)
      // end
    },
  ]
}
