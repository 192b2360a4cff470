import Foundation
import RealmStorage
@_spi(Testing) import RealmSwift
import Testing

class Owner: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var name = ""
  @Persisted var any: AnyRealmValue
  @Persisted var tags: List<String>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Parrot: Object {
  @Persisted var name = ""
  @Persisted var owner: Owner?
  @Persisted var words: List<String>

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class Hamster: Object {
  @Persisted var name = ""

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// A class for the objects of `Owner`, with other names for their properties.
class Keeper: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var title = ""
  @Persisted var anything: AnyRealmValue
  @Persisted var labels: List<String>

  override class func _realmObjectName() -> String? { "Owner" }
  override class func propertiesMapping() -> [String: String] {
    ["number": "id", "title": "name", "anything": "any", "labels": "tags"]
  }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// `Hamster` with one more property.
class WeighedHamster: Object {
  @Persisted var name = ""
  @Persisted var weight = 0

  override class func _realmObjectName() -> String? { "Hamster" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

@Suite struct OtherClassesTests {
  /// The place where a realm is stored.
  enum Place: CaseIterable { case file, memory }

  private func configuration(_ place: Place, _ file: TemporaryFile) -> Realm.Configuration {
    place == .file ? file.configuration : Realm.Configuration(inMemoryIdentifier: file.url.path)
  }

  @Test(arguments: Place.allCases)
  func `each realm has the classes of its configuration, on every thread`(_ place: Place) throws {
    let file = TemporaryFile()
    let base = configuration(place, file)
    try onThread {
      @Sendable func realm(_ types: [ObjectBase.Type]) throws -> Realm {
        var configuration = base
        configuration.objectTypes = types
        return try Realm(configuration: configuration)
      }
      let owners = try realm([Owner.self])
      try owners.write { owners.create(Owner.self, value: ["id": 1, "name": "Ann"]) }
      try onThread {
        let more = try realm([Owner.self, Parrot.self])
        #expect(more.schema.objectSchema.map(\.className) == ["Owner", "Parrot"])
        try more.write {
          more.create(Parrot.self, value: ["name": "Polly", "owner": more.objects(Owner.self)[0]])
        }
        let others = try realm([Hamster.self])
        #expect(others.schema.objectSchema.map(\.className) == ["Hamster"] && others.isEmpty)
        #expect(others == more && !more.isEmpty)
        try others.write { others.create(Hamster.self) }
      }
      #expect(owners.schema.objectSchema.map(\.className) == ["Owner"])
      #expect(owners.configuration.objectTypes?.count == 1)
      // The version of `owners` has no table for parrots, and the version does not change before it is read.
      let all = try realm([Parrot.self, Hamster.self, Owner.self])
      #expect(all == owners && all.objects(Parrot.self).isEmpty && all.objects(Owner.self).count == 1)
      #expect(owners.refresh() && !all.refresh())
      #expect(all.objects(Parrot.self)[0].owner?.name == "Ann" && all.objects(Hamster.self).count == 1)
      #expect(all.schema.objectSchema.map(\.className) == ["Parrot", "Hamster", "Owner"])
      try owners.write {
        owners.deleteAll()
        #expect(all.objects(Parrot.self).count == 1 && all.objects(Parrot.self)[0].owner == nil)
      }
      #expect(owners.isEmpty && !all.isEmpty)
      try all.write { all.deleteAll() }
      #expect(all.isEmpty)
      try all.verify()
    }
  }

  @Test func `realms of one thread share a transaction, which may make tables for one of them`() throws {
    let file = TemporaryFile()
    try onThread {
      let owners = try Realm(configuration: file.of(Owner.self))
      owners.beginWrite()
      let ann = owners.create(Owner.self, value: ["id": 1, "name": "Ann"])
      let parrots = try Realm(configuration: file.of(Owner.self, Parrot.self))
      #expect(parrots.isInWriteTransaction && parrots == owners && parrots.objects(Owner.self).count == 1)
      let polly = parrots.create(Parrot.self, value: ["name": "Polly", "owner": ann])
      // The object is already added, because both realms share it.
      parrots.add(ann)
      ann.any = .object(polly)
      try parrots.commitWrite()
      #expect(!owners.isInWriteTransaction && ann.realm == parrots && polly.owner == ann)
      #expect(ann.any.object(Parrot.self)?.name == "Polly")
      #expect(owners.object(ofType: Owner.self, forPrimaryKey: 1) == ann)
      try owners.write { owners.delete(polly) }
      #expect(parrots.objects(Parrot.self).isEmpty && ann.any == .none)
      // Another thread has the tables now.
      try onThread {
        let realm = try Realm(configuration: file.of(Parrot.self, Owner.self))
        #expect(realm.objects(Owner.self).count == 1)
        try realm.write { realm.create(Parrot.self) }
      }
    }
    try onThread {
      let realm = try Realm(configuration: file.of(Parrot.self, Owner.self))
      #expect(realm.objects(Parrot.self).count == 1)
      try realm.verify()
    }
  }

  @Test func `tables that a cancelled transaction removed are made again when they are used`() throws {
    let file = TemporaryFile()
    try onThread {
      let owners = try Realm(configuration: file.of(Owner.self))
      owners.beginWrite()
      let parrots = try Realm(configuration: file.of(Owner.self, Parrot.self))
      let lost = parrots.create(Parrot.self, value: ["name": "Polly"])
      let found = parrots.objects(Parrot.self)
      let whole = try #require(lost.realm)
      owners.cancelWrite()
      #expect(lost.isInvalidated && found.isEmpty)
      // The number of the table now belongs to another class.
      try onThread {
        let realm = try Realm(configuration: file.of(Hamster.self, Owner.self))
        try realm.write {
          let hamster = realm.create(Hamster.self, value: ["name": "Harry"])
          realm.create(Owner.self, value: ["id": 1, "any": AnyRealmValue.object(hamster)])
        }
      }
      #expect(parrots.objects(Parrot.self).isEmpty)
      owners.refresh()
      try parrots.write { parrots.create(Parrot.self, value: ["name": "Polly"]) }
      #expect(parrots.objects(Parrot.self).map(\.name) == ["Polly"] && found.map(\.name) == ["Polly"])
      #expect(whole.objects(Parrot.self).count == 1 && whole.objects(Owner.self).count == 1)
      let all = try Realm(configuration: file.of(Hamster.self, Owner.self))
      #expect(all.objects(Owner.self)[0].any.object(Hamster.self)?.name == "Harry")
      try all.verify()
    }
  }

  @Test func `classes with existing tables outlive a cancelled transaction`() throws {
    let file = TemporaryFile()
    try onThread {
      let realm = try Realm(configuration: file.of(Owner.self, Parrot.self))
      try realm.write {
        let ann = realm.create(Owner.self, value: ["id": 1, "name": "Ann"])
        realm.create(Parrot.self, value: ["name": "Polly", "owner": ann])
      }
    }
    try onThread {
      let owners = try Realm(configuration: file.of(Owner.self))
      owners.beginWrite()
      let all = try Realm(configuration: file.of(Parrot.self, Owner.self))
      let polly = all.objects(Parrot.self)[0]
      // One class has a table, and the table of another has to be made.
      let mixed = try Realm(configuration: file.of(Parrot.self, Owner.self, Hamster.self))
      let again = mixed.objects(Parrot.self)[0]
      let lost = mixed.create(Hamster.self)
      owners.cancelWrite()
      #expect(polly.owner?.name == "Ann" && again.owner?.name == "Ann" && again.name == "Polly")
      #expect(lost.isInvalidated && mixed.objects(Hamster.self).isEmpty && polly.realm == owners)
      try all.write { polly.name = "Max" }
      #expect(again.name == "Max")
      try all.verify()
    }
  }

  @Test func `threads that open the same classes at once bind each once`() throws {
    for _ in 0..<20 {
      let file = TemporaryFile()
      try onThread {
        let owners = try Realm(configuration: file.of(Owner.self))
        DispatchQueue.concurrentPerform(iterations: 4) { number in
          let types: [ObjectBase.Type] =
            number % 2 == 0 ? [Owner.self, Parrot.self] : [Parrot.self, Owner.self]
          var configuration = file.configuration
          configuration.objectTypes = types
          #expect(throws: Never.self) {
            let realm = try Realm(configuration: configuration)
            try realm.write {
              realm.create(Parrot.self, value: ["owner": realm.create(Owner.self, value: [number])])
            }
          }
        }
        owners.refresh()
        #expect(owners.objects(Owner.self).count == 4)
      }
    }
  }

  @Test func `two classes may share a table, each with its own names`() throws {
    let file = TemporaryFile()
    try onThread {
      let owners = try Realm(configuration: file.of(Owner.self))
      let keepers = try Realm(configuration: file.of(Keeper.self))
      try owners.write {
        let ann = owners.create(Owner.self, value: ["id": 1, "name": "Ann", "tags": ["a"]])
        let keeper = try #require(keepers.object(ofType: Keeper.self, forPrimaryKey: 1))
        // Both realms see changes that are not written to the file yet.
        keeper.labels.append("b")
        ann.tags.append("c")
        #expect(Array(keeper.labels) == ["a", "b", "c"] && ann.tags.count == 3)
        keeper.title = "Anna"
        #expect(ann.name == "Anna" && keepers.objects(Keeper.self).where { $0.title == "Anna" }.count == 1)
      }
      #expect(
        keepers.objects(Keeper.self).map(\.title) == ["Anna"] && keepers.schema["Owner"]?["title"] != nil)
      owners.beginWrite()
      let lost = owners.create(Owner.self, value: ["id": 2])
      let same = try #require(keepers.object(ofType: Keeper.self, forPrimaryKey: 2))
      owners.cancelWrite()
      #expect(lost.isInvalidated && same.isInvalidated)
      try keepers.write { keepers.delete(keepers.objects(Keeper.self)) }
      #expect(owners.isEmpty)
    }
  }

  @Test func `a configuration that conflicts with the open file is refused with both values`() throws {
    let file = TemporaryFile()
    func refusal(_ change: (inout Realm.Configuration) -> Void) -> String {
      var configuration = file.of(Hamster.self)
      configuration.schemaVersion = 3
      change(&configuration)
      let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      #expect(error?.code == .alreadyOpen && error?.fileURL == file.url)
      return error?.localizedDescription ?? ""
    }
    try autoreleasing {
      var configuration = file.of(Hamster.self)
      configuration.schemaVersion = 3
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(Hamster.self) }
      for version in [2, 4] as [UInt64] {
        let message = refusal {
          $0.schemaVersion = version
          $0.migrationBlock = { _, _ in }
        }
        for part in ["schemaVersion = 3", "\(version) is asked for", "migrationBlock"] {
          #expect(message.contains(part))
        }
      }
      #expect(refusal { $0.readOnly = true }.contains("readOnly = false, and true"))
      let deletion = refusal {
        $0.deleteRealmIfMigrationNeeded = true
        $0.objectTypes = [WeighedHamster.self]
      }
      for part in ["deleteRealmIfMigrationNeeded = true", "Hamster.weight: Int was added"] {
        #expect(deletion.contains(part), "'\(deletion)' lacks '\(part)'")
      }
      // The block need not be called, and the file need not be deleted.
      configuration.migrationBlock = { _, _ in }
      configuration.deleteRealmIfMigrationNeeded = true
      #expect(try Realm(configuration: configuration).objects(Hamster.self).count == 1)
      configuration.objectTypes = [WeighedHamster.self]
      configuration.deleteRealmIfMigrationNeeded = false
      let error = #expect(throws: Realm.Error.self) { try Realm(configuration: configuration) }
      #expect(error?.code == .schemaMismatch)
      #expect(realm.objects(Hamster.self).count == 1)
    }
    var later = file.of(WeighedHamster.self)
    later.schemaVersion = 4
    #expect(try Realm(configuration: later).objects(WeighedHamster.self)[0].weight == 0)
  }

  @Test func `a read-only realm has the classes that its configuration names`() throws {
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try Realm(configuration: file.of(Owner.self, Hamster.self))
      try realm.write { realm.create(Hamster.self) }
    }
    var configuration = file.of(Owner.self)
    configuration.readOnly = true
    let owners = try Realm(configuration: configuration)
    configuration.objectTypes = [Hamster.self, Owner.self, Parrot.self]
    let others = try Realm(configuration: configuration)
    #expect(owners.isEmpty && others.objects(Hamster.self).count == 1 && others.objects(Parrot.self).isEmpty)
  }

  @Test func `each realm counts versions by its own configuration, and the last realm keeps the file open`()
    throws
  {
    let file = TemporaryFile()
    try onThread {
      let narrow = file.narrow
      var first: Realm? = try Realm(configuration: file.of(Hamster.self))
      let second = try Realm(configuration: narrow)
      try first?.write { first?.create(Hamster.self) }
      try onThread {
        let wide = try Realm(configuration: file.of(Hamster.self))
        let narrow = try Realm(configuration: narrow)
        try wide.write { wide.create(Hamster.self) }
        // This thread reads the new version, and the other thread the version before.
        #expect(wide.configuration.maximumNumberOfActiveVersions == nil)
        #expect(narrow.configuration.maximumNumberOfActiveVersions == 1)
        let error = #expect(throws: Realm.Error.self) { try narrow.write {} }
        #expect(error?.code == .fail)
        try wide.write { wide.create(Hamster.self) }
      }
      first = nil
      #expect(throws: Realm.Error.self) { try Realm.deleteFiles(for: narrow) }
      #expect(second.objects(Owner.self).isEmpty)
    }
    #expect(try Realm.deleteFiles(for: file.configuration))
  }

  @Test func `realms of many threads with classes of their own open a file at the same time`() throws {
    let file = TemporaryFile()
    let types: [[ObjectBase.Type]] = [
      [Owner.self], [Hamster.self], [Parrot.self, Owner.self], [Keeper.self], [Hamster.self, Owner.self],
    ]
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for round in 0..<10 {
        var configuration = file.configuration
        configuration.objectTypes = types[(thread + round) % types.count]
        do {
          let realm = try Realm(configuration: configuration)
          #expect(realm.schema.objectSchema.count == configuration.objectTypes?.count)
          try realm.write {
            if realm.schema["Hamster"] != nil { realm.create(Hamster.self) }
          }
        } catch {
          Issue.record(error)
        }
      }
    }
    let realm = try Realm(configuration: file.of(Hamster.self))
    #expect(realm.objects(Hamster.self).count == 16)
    try realm.verify()
  }
}

extension TemporaryFile {
  /// A configuration that allows one version.
  fileprivate var narrow: Realm.Configuration {
    var configuration = of(Owner.self)
    configuration.maximumNumberOfActiveVersions = 1
    return configuration
  }

  /// A configuration with some classes.
  func of(_ types: ObjectBase.Type...) -> Realm.Configuration {
    Realm.Configuration(fileURL: url, objectTypes: types)
  }
}
