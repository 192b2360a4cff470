import Foundation
import RealmSwift

private func file() -> TemporaryFile { TemporaryFile(named: "guide-") }

extension TemporaryFile {
  fileprivate var books: Realm.Configuration {
    Realm.Configuration(fileURL: url, objectTypes: [Book.self])
  }
}

// listing: view model
@MainActor final class ShelfModel {  // for SwiftUI, mark it @Observable
  private let realm: Realm
  private(set) var titles: [String] = []

  init(_ configuration: Realm.Configuration) throws {
    realm = try Realm(configuration: configuration)
    show()
  }

  func add(_ title: String, isbn: String) async throws {
    try await realm.asyncWrite {
      realm.create(Book.self, value: ["isbn": isbn, "title": title])
    }
    show()
  }

  private func show() {
    titles = realm.objects(Book.self).sorted(by: \.title).map(\.title)
  }
}
// end

// listing: actor with a realm
actor BookStore {
  private var realm: Realm!

  init(_ configuration: Realm.Configuration) async throws {
    realm = try await Realm(configuration: configuration, actor: self)
  }

  func add(_ title: String, isbn: String) async throws {
    try await realm.asyncWrite {
      realm.create(Book.self, value: ["isbn": isbn, "title": title])
    }
  }

  func titles() -> [String] { realm.objects(Book.self).map(\.title) }

  func close() { realm = nil }
}
// end

// listing: import in batches
extension BookStore {
  func add(_ books: [(isbn: String, title: String)]) async throws {
    for start in stride(from: 0, to: books.count, by: 1_000) {
      let batch = books[start..<min(start + 1_000, books.count)]
      try await realm.asyncWrite {
        for book in batch {
          realm.create(Book.self, value: ["isbn": book.isbn, "title": book.title], update: .modified)
        }
      }
      await Task.yield()
    }
  }
}
// end

// listing: open for a short time
func countBooks(_ configuration: Realm.Configuration) throws -> Int {
  try Realm(configuration: configuration).objects(Book.self).count
}

func report(_ configuration: Realm.Configuration) async throws -> String {
  "books: \(try countBooks(configuration))"
}
// end

// listing: server
actor Catalogue {
  private let configuration: Realm.Configuration
  private var realm: Realm!

  init(_ configuration: Realm.Configuration) async throws {
    self.configuration = configuration
    realm = try await Realm(configuration: configuration, actor: self)
  }

  func write<Result: Sendable>(
    _ change: @Sendable (Realm) throws -> Result
  ) async throws -> Result {
    try await realm.asyncWrite { try change(realm) }
  }

  /// The newest version, for any task. It does not wait for the actor.
  nonisolated func newest() throws -> sending Realm {
    let realm = try Realm(configuration: configuration)
    realm.refresh()
    return realm.freeze()
  }
}
// end

// listing: handlers of requests
func postBook(_ title: String, isbn: String, to catalogue: Catalogue) async throws {
  try await catalogue.write { realm in
    _ = realm.create(Book.self, value: ["isbn": isbn, "title": title], update: .modified)
  }
}

func findBooks(_ text: String, in catalogue: Catalogue) async throws -> [String] {
  let books = try catalogue.newest().objects(Book.self).where { $0.title.contains(text) }
  await Task.yield()  // the results stay the same, whatever is written meanwhile
  return books.sorted(by: \.title).map(\.title)
}
// end

extension Listings {
  static let tasks: [String: AsyncListing] = [
    "view model in use": { print in
      let file = file()
      let configuration = file.books
      // listing: view model in use
      let model = try await ShelfModel(configuration)
      try await model.add("Waves", isbn: "2")
      try await model.add("Atlas", isbn: "1")
      print(await model.titles)
      // end
    },
    "actor in use": { print in
      let file = file()
      let configuration = file.books
      // listing: actor in use
      let store = try await BookStore(configuration)
      try await store.add("Atlas", isbn: "1")
      print(await store.titles())
      await store.close()
      // end
    },
    "open for a short time": { print in
      let file = file()
      let store = try await BookStore(file.books)
      try await store.add("Atlas", isbn: "1")
      print(try await report(file.books))
      await store.close()
    },
    "freeze": { @MainActor print in
      let file = file()
      let realm = try await Realm(configuration: file.books)
      try await realm.asyncWrite { realm.create(Book.self, value: ["isbn": "1", "title": "Atlas"]) }
      // listing: freeze
      let frozen = realm.objects(Book.self).freeze()
      try await realm.asyncWrite { realm.deleteAll() }
      let titles = await Task.detached { Array(frozen.map(\.title)) }.value
      print(titles, realm.objects(Book.self).count)
      // end
    },
    "cancel": { @MainActor print in
      let file = file()
      let realm = try await Realm(configuration: file.books)
      // listing: cancel
      let task = Task {
        try await realm.asyncWrite { realm.create(Book.self, value: ["isbn": "1"]) }
        return
      }
      task.cancel()
      do {
        try await task.value
      } catch is CancellationError {
        print("not written:", realm.isEmpty)
      }
      // end
    },
    "import in batches": { print in
      let file = file()
      let store = try await BookStore(file.books)
      try await store.add((0..<2_500).map { (isbn: "\($0)", title: "Book \($0)") })
      guard await store.titles().count == 2_500 else { throw Realm.Error(.fail) }
      await store.close()
    },
    "server in use": { print in
      let file = file()
      let configuration = file.books
      // listing: server in use
      let catalogue = try await Catalogue(configuration)
      try await withThrowingTaskGroup(of: Void.self) { requests in
        for number in 1...20 {
          requests.addTask { try await postBook("Book \(number)", isbn: "\(number)", to: catalogue) }
        }
        try await requests.waitForAll()
      }
      print(try await findBooks("Book 2", in: catalogue))
      // end
    },
  ]
}
