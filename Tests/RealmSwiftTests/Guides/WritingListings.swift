import Foundation
import RealmSwift

private func open() throws -> Realm {
  try Realm(
    configuration: Realm.Configuration(
      inMemoryIdentifier: UUID().uuidString,
      objectTypes: [Book.self, Novel.self, Author.self, Library.self, Postcode.self]))
}

private struct OutOfStock: Error {}

extension Listings {
  static let writing: [String: Listing] = [
    "add": { print in
      let realm = try open()
      // listing: add
      let book = Book()
      book.isbn = "978-1"
      book.title = "Atlas"
      try realm.write { realm.add(book) }
      print(book.realm == realm, realm.objects(Book.self).count)
      // end
    },
    "roll back": { print in
      let realm = try open()
      // listing: roll back
      do {
        try realm.write {
          realm.add(Book(value: ["isbn": "1"]))
          throw OutOfStock()
        }
      } catch is OutOfStock {
        print("nothing was written:", realm.isEmpty)
      }
      // end
    },
    "begin and cancel": { print in
      let realm = try open()
      // listing: begin and cancel
      realm.beginWrite()
      let book = realm.create(Book.self, value: ["isbn": "1"])
      realm.cancelWrite()
      print(book.isInvalidated, realm.isInWriteTransaction)
      // end
    },
    "from values": { print in
      let realm = try open()
      // listing: from values
      try realm.write {
        realm.create(Book.self, value: ["isbn": "1", "title": "By name", "pages": 120])
        realm.create(Book.self, value: ["2", "In the order of the properties", 80])
        let json = try JSONSerialization.jsonObject(with: Data(#"{"isbn": "3", "price": 9.5}"#.utf8))
        realm.create(Book.self, value: json)
      }
      for book in realm.objects(Book.self) { print(book.title, book.pages, book.price ?? 0) }
      // end
    },
    "duplicate": { print in
      let realm = try open()
      // listing: duplicate
      let author = Author(value: ["name": "Ada"])
      try realm.write {
        let novel = realm.create(Novel.self, value: ["title": "First", "author": author])
        print(author.realm == nil, novel.author?.name ?? "nobody")
        let copy = realm.create(Novel.self, value: novel)
        copy.title = "Second"
        print(copy.author?.isSameObject(as: novel.author) ?? false, realm.objects(Author.self).count)
      }
      // end
    },
    "update": { print in
      let realm = try open()
      // listing: update
      try realm.write { realm.create(Book.self, value: ["isbn": "1", "title": "Atlas", "pages": 120]) }
      try realm.write { realm.create(Book.self, value: ["isbn": "1", "pages": 130], update: .modified) }
      print(Array(realm.objects(Book.self).map { "\($0.title), \($0.pages) pages" }))
      // end
    },
    "graph": { print in
      let realm = try open()
      // listing: graph
      let novel = Novel(value: ["title": "Waves", "author": ["name": "Virginia"]] as [String: Any])
      try realm.write { realm.add(novel) }
      print(realm.objects(Author.self)[0].name, novel.author?.realm == realm)
      // end
    },
    "delete": { print in
      let realm = try open()
      // listing: delete
      try realm.write {
        realm.create(Novel.self, value: ["title": "Waves", "author": ["name": "Virginia"]] as [String: Any])
        realm.create(Novel.self, value: ["title": "Years"])
      }
      let novel = realm.objects(Novel.self)[0]
      try realm.write { realm.delete(realm.objects(Author.self)) }
      print(novel.author == nil, novel.isInvalidated)
      try realm.write { realm.delete(novel) }
      print(novel.isInvalidated, realm.objects(Novel.self).count)
      try realm.write { realm.deleteAll() }
      // end
    },
    "keep deleted values": { print in
      // listing: keep deleted values
      var configuration = Realm.Configuration(
        inMemoryIdentifier: "novels", objectTypes: [Novel.self, Author.self])
      configuration.keepsDeletedValues = true
      let realm = try Realm(configuration: configuration)
      let novel = try realm.write {
        realm.create(Novel.self, value: ["title": "Waves", "author": ["name": "Virginia"]] as [String: Any])
      }
      try realm.write { realm.delete(novel) }
      print(novel.isInvalidated, novel.title, novel.author == nil)
      // end
    },
    "counters": { print in
      let realm = try open()
      // listing: counters
      let book = Book(value: ["isbn": "1"])
      try realm.write { realm.add(book) }
      try realm.write {
        book.increment(\.pages, by: 20)
        book.increment(\.pages, by: -5)
      }
      print(book.pages)
      // end
    },
    "lists": { print in
      let realm = try open()
      // listing: lists
      let novel = Novel()
      try realm.write {
        realm.add(novel)
        novel.keywords.append(objectsIn: ["a", "b", "c", "d"])
        novel.keywords.move(from: 3, to: 0)
        novel.keywords.swapAt(1, 2)
        novel.keywords.remove(at: 3)
        novel.keywords.replaceSubrange(1..<2, with: ["x", "y"])
      }
      print(Array(novel.keywords), novel.keywords.index(of: "y") ?? -1)
      // end
    },
    "sets": { print in
      let realm = try open()
      // listing: sets
      try realm.write {
        for title in ["Waves", "Years", "Orlando"] { realm.create(Novel.self, value: ["title": title]) }
        let novels = realm.objects(Novel.self)
        novels[0].related.insert(objectsIn: [novels[1], novels[2], novels[1]])
        novels[1].related.insert(novels[2])
        print(novels[0].related.count, novels[0].related.intersects(novels[1].related))
        novels[0].related.formIntersection(novels[1].related)
        print(Array(novels[0].related.map(\.title)))
      }
      // end
    },
    "maps": { print in
      let realm = try open()
      // listing: maps
      let novel = Novel()
      try realm.write {
        realm.add(novel)
        novel.reviews["Weekly"] = 4
        novel.reviews.merge([(key: "Weekly", value: 2), (key: "Daily", value: 5)]) { old, new in max(old, new)
        }
      }
      for entry in novel.reviews { print(entry.key, entry.value) }
      try realm.write { novel.reviews["Daily"] = nil }
      print(novel.reviews.keys)
      // end
    },
    "read": { print in
      let realm = try open()
      // listing: read
      try realm.write {
        for number in 1...5 {
          realm.create(
            Book.self, value: ["isbn": "\(number)", "title": "Book \(number)", "pages": number * 100])
        }
      }
      let thick = realm.objects(Book.self).where { $0.pages > 200 && !$0.isRead }.sorted(
        by: \.pages, ascending: false)
      print(Array(thick.map(\.title)), realm.object(ofType: Book.self, forPrimaryKey: "2")?.pages ?? 0)
      let pages: Int = thick.sum(of: \.pages)
      print(thick.count, pages)
      try realm.write { thick[0].isRead = true }
      print(thick.count)
      // end
    },
  ]
}
