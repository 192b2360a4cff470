import Dispatch
import Foundation
import RealmStorage
import RealmSwift

private func temporaryFile() -> URL {
  FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).realm")
}

private func remove(_ url: URL) { _ = try? Realm.deleteFiles(for: Realm.Configuration(fileURL: url)) }

private func inMemory() -> Realm.Configuration {
  Realm.Configuration(inMemoryIdentifier: UUID().uuidString, objectTypes: [Book.self])
}

/// A realm with two books, for the current thread.
private func shelf(_ configuration: Realm.Configuration) throws -> Realm {
  let realm = try Realm(configuration: configuration)
  try realm.write {
    realm.create(Book.self, value: ["isbn": "1", "title": "Atlas", "pages": 300])
    realm.create(Book.self, value: ["isbn": "2", "title": "Waves", "pages": 90])
  }
  return realm
}

// listing: variable for any thread
func markRead(_ book: Book, on queue: DispatchQueue) {
  let anywhere = ThreadSafe<Book>(wrappedValue: book)
  queue.async {
    guard let book = anywhere.wrappedValue, let realm = book.realm else { return }  // deleted meanwhile
    do {
      try realm.write { book.isRead = true }
    } catch {
      print("not written: \(error)")
    }
  }
}
// end

extension Listings {
  static let threads: [String: Listing] = [
    "realm of a queue": { print in
      let configuration = inMemory()
      // listing: realm of a queue
      let queue = DispatchQueue(label: "shelf")
      try queue.sync {
        let realm = try Realm(configuration: configuration, queue: queue)
        try realm.write { realm.create(Book.self, value: ["isbn": "1", "title": "Atlas"]) }
        print(realm.objects(Book.self).count)
      }
      // end
    },
    "open with a callback": { print in
      let configuration = inMemory()
      let done = DispatchSemaphore(value: 0)
      // listing: open with a callback
      let queue = DispatchQueue(label: "shelf")
      Realm.asyncOpen(configuration: configuration, callbackQueue: queue) { result in
        switch result {
        case .success(let realm): print("open:", realm.isEmpty)
        case .failure(let error): print("not open:", error)
        }
        done.signal()  // this example waits for it
      }
      // end
      done.wait()
    },
    "pass a key": { print in
      let configuration = inMemory()
      let realm = try shelf(configuration)
      let book = realm.objects(Book.self)[0]
      let queue = DispatchQueue(label: "shelf")
      // listing: pass a key
      let isbn = book.isbn
      try queue.sync {
        let realm = try Realm(configuration: configuration, queue: queue)
        let book = realm.object(ofType: Book.self, forPrimaryKey: isbn)
        print(book?.title ?? "deleted meanwhile")
      }
      // end
    },
    "thaw": { print in
      let realm = try shelf(inMemory())
      let book = realm.objects(Book.self)[0]
      // listing: thaw
      let frozen = book.freeze()
      try realm.write { book.pages = 310 }
      print(frozen.pages, frozen.thaw()?.pages ?? 0)
      try realm.write { realm.delete(book) }
      print(frozen.pages, frozen.thaw() == nil)
      // end
    },
    "pass a reference": { print in
      let configuration = inMemory()
      let realm = try shelf(configuration)
      let queue = DispatchQueue(label: "shelf")
      // listing: pass a reference
      let reference = ThreadSafeReference(to: realm.objects(Book.self).where { $0.pages > 100 })
      try queue.sync {
        let realm = try Realm(configuration: configuration, queue: queue)
        guard let thick = realm.resolve(reference) else { return }
        print(thick.count, thick[0].title, reference.isInvalidated)
      }
      // end
    },
    "variable for any thread": { print in
      let realm = try shelf(inMemory())
      let book = realm.objects(Book.self)[0]
      let queue = DispatchQueue(label: "shelf")
      markRead(book, on: queue)
      queue.sync {}
      realm.refresh()
      guard book.isRead else { throw Realm.Error(.fail) }
    },
    "write later": { print in
      let url = temporaryFile()
      defer { remove(url) }
      let configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self])
      let done = DispatchSemaphore(value: 0)
      // listing: write later
      let queue = DispatchQueue(label: "shelf")
      try queue.sync {
        let realm = try Realm(configuration: configuration, queue: queue)
        realm.writeAsync {
          realm.create(Book.self, value: ["isbn": "1", "title": "Atlas"])
        } onComplete: { error in
          print(error == nil ? "it survives a loss of power" : "nothing was written")
          done.signal()  // this example waits for it
        }
        print("asked for:", realm.objects(Book.self).count)
      }
      // end
      done.wait()
      queue.sync {}
    },
    "follow other processes": { print in
      let url = temporaryFile()
      defer { remove(url) }
      let configuration = Realm.Configuration(fileURL: url, objectTypes: [Book.self])
      let realm = try shelf(configuration)
      func writeInAnotherProcess() throws {
        try onThread {
          let realm = try Realm(configuration: configuration)
          try realm.write { realm.create(Book.self, value: ["isbn": "3"]) }
        }
      }
      // listing: follow other processes
      let file = try Database(path: url.path)
      let seen = file.version
      print(realm.objects(Book.self).count)
      try writeInAnotherProcess()
      if try file.waitForCommit(after: seen, timeout: .seconds(10)) != nil {
        realm.refresh()
        print(realm.objects(Book.self).count)
      }
      // end
      file.close()
    },
  ]
}
