import Foundation
import Synchronization
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Versions that are kept by name.
@Suite struct NamedVersionTests {
  private func set(_ database: Database, _ number: Int, _ durability: Durability = .full) throws {
    try database.write(durability) {
      try $0.tree("a").set([UInt8](repeating: UInt8(number & 255), count: 900), for: [UInt8(number % 40)])
      try $0.tree("stamp").set([UInt8(number & 255)], for: [])
    }
  }

  private func stamp(_ snapshot: Snapshot?) throws -> UInt8? {
    guard let snapshot else { return nil }
    let findings = IntegrityCheck.run(snapshot).findings
    #expect(findings == [])
    return try snapshot.tree("stamp").value(for: [])?.first
  }

  @Test(arguments: [nil, Keys.first])
  func `a named version stays through commits, other handles, a reopening and a reader`(key: [UInt8]?) throws
  {
    try withTemporaryPath { path in
      let options = Database.Options(encryptionKey: key)
      var version: UInt64 = 0
      do {
        let (first, second) = (
          try Database(path: path, options: options), try Database(path: path, options: options)
        )
        for number in 0..<40 { try set(first, number) }
        version = try first.keepVersion(named: "before")
        #expect(version == first.version - 1)
        #expect(try second.namedVersions().map(\.name) == ["before"])
        for number in 0..<300 { try set(number % 3 == 0 ? second : first, number, .relaxed) }
        for handle in [first, second] { #expect(try stamp(handle.snapshot(named: "before")) == 39) }
        let pin = try #require(try second.pinnedVersions().first)
        #expect(pin.name == "before" && pin.version == version && pin.processID == nil && pin.bytes > 30_000)
        #expect(try second.storageReport().pinnedBytes == pin.bytes)
      }
      let reader = try Database(path: path, options: .init(encryptionKey: key, isReadOnly: true))
      let found = try #require(try reader.namedVersions().first)
      #expect(found.version == version && !found.isEnded && found.since > 1_700_000_000)
      let kept = try #require(try reader.snapshot(named: "before"))
      #expect(kept.version == version)
      #expect(try stamp(kept) == 39)
      #expect(try reader.snapshot(named: "after") == nil)
      let writer = try Database(path: path, options: options)
      for number in 0..<300 { try set(writer, number) }
      #expect(try NamedVersionCheck.run(writer).versions == 1)
      #expect(try NamedVersionCheck.run(writer).findings.isEmpty)
      #expect(try writer.dropVersion(named: "before"))
      #expect(try !writer.dropVersion(named: "before"))
      for number in 0..<300 { try set(writer, number) }
      // The reader still holds the version.
      #expect(try stamp(kept) == 39)
      #expect(try reader.snapshot(named: "before") == nil)
      #expect(throws: StorageError.readOnly(path: path)) { try reader.keepVersion(named: "before") }
    }
  }

  @Test func `a name moves to a newer version, and to the version of a snapshot`() throws {
    let database = try Database(inMemory: "names")
    try set(database, 1)
    let old = try database.snapshot()
    try set(database, 2, .relaxed)
    #expect(try database.keepVersion(named: "n") == old.version + 1)
    // The version was made durable before it got its name.
    #expect(database.held.block.durable.number == database.version)
    try set(database, 3)
    #expect(try stamp(database.snapshot(named: "n")) == 2)
    try database.keepVersion(of: old, named: "n")
    try database.keepVersion(of: old, named: "m")
    for number in 4..<60 { try set(database, number) }
    #expect(try stamp(database.snapshot(named: "n")) == 1)
    #expect(try database.namedVersions().map(\.version) == [old.version, old.version])
    try database.keepVersion(named: "n")
    #expect(try stamp(database.snapshot(named: "n")) == 59)
    #expect(try stamp(database.snapshot(named: "m")) == 1)
  }

  @Test func `a version that a recovery may have lost on disk can't be named`() throws {
    let database = try Database(inMemory: "unsure")
    try set(database, 1)
    let (old, block) = (try database.snapshot(), database.held.block)
    try set(database, 2)
    let unsure = try database.snapshot()
    block.noteRewriting(after: old.version)
    try set(database, 3)
    let sure = try database.snapshot()
    try set(database, 4)
    #expect(throws: StorageError.snapshotExpired(path: database.path)) {
      try database.keepVersion(of: unsure, named: "n")
    }
    #expect(try database.namedVersions() == [])
    for snapshot in [old, sure] { try database.keepVersion(of: snapshot, named: "\(snapshot.version)") }
    #expect(try database.namedVersions().map(\.version) == [old.version, sure.version])
  }

  @Test func `the first version, which is empty, can be named`() throws {
    let database = try Database(inMemory: "empty")
    #expect(try database.keepVersion(named: "nothing") == 1)
    for number in 0..<20 { try set(database, number) }
    #expect(try database.snapshot(named: "nothing")?.treeNames() == [])
  }

  @Test func `names that are too long, empty or too many are refused`() throws {
    let database = try Database(inMemory: "names")
    try set(database, 1)
    let long = String(repeating: "é", count: 123)
    try database.keepVersion(named: long + "x")
    #expect(try stamp(database.snapshot(named: long + "x")) == 1)
    for name in ["", long + "xy"] {
      let limit = Limit.nameLength(name.utf8.count, maximum: 247)
      #expect(throws: StorageError.limitExceeded(limit, path: database.path)) {
        try database.keepVersion(named: name)
      }
      #expect(try database.snapshot(named: name) == nil)
      #expect(try !database.dropVersion(named: name))
    }
    let kept = VersionSlots.Kept(try database.snapshot().base, since: 1)
    let transaction = try database.beginWrite()
    try transaction.changeCatalogue(added: 999) { (catalogue, editor) throws(StorageError) in
      for number in 1..<1000 { try VersionSlots.set(kept, for: "\(number)", in: &catalogue, editor) }
    }
    try transaction.commit()
    #expect(throws: StorageError.limitExceeded(.namedVersions(maximum: 1000), path: database.path)) {
      try database.keepVersion(named: "one more")
    }
    try database.keepVersion(named: "7")
    #expect(try database.dropVersion(named: "8"))
    try database.keepVersion(named: "one more")
    #expect(try database.namedVersions().count == 1000)
  }

  @Test func `space that only a dropped version needed is used again`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      for number in 0..<40 { try set(database, number) }
      try database.keepVersion(named: "n")
      for number in 0..<40 { try set(database, number + 100) }
      #expect(try database.storageReport().pinnedBytes > 30_000)
      try database.dropVersion(named: "n")
      #expect(try database.storageReport().pinnedBytes == 0)
      try set(database, 1)
      #expect(database.writer?.pages.with { $0.space.waitingBytes } ?? .max < 200_000)
    }
  }

  /// Many pages are kept for names. Beyond the limit the oldest version ends, and the file does not grow without limit.
  @Test(arguments: [nil, Keys.first])
  func `the oldest named version ends if named versions keep more bytes than the limit allows`(key: [UInt8]?)
    throws
  {
    try withTemporaryPath { path in
      var options = Database.Options(encryptionKey: key)
      options.namedVersionLimit = 1 << 20
      let database = try Database(path: path, options: options)
      for number in 0..<40 { try set(database, number) }
      let first = try database.keepVersion(named: "first")
      try set(database, 1)
      try database.keepVersion(named: "second")
      let held = try #require(try database.snapshot(named: "second"))
      for number in 0..<2000 { try set(database, number, number % 5 == 0 ? .full : .relaxed) }
      // The content is so small that one version stays within the limit.
      #expect(try database.namedVersions().map(\.isEnded) == [false, false])
      for round in 0..<12 {
        try database.keepVersion(named: "round \(round)")
        for number in 0..<100 {
          try database.write(.relaxed) {
            try $0.tree("b").set([UInt8](repeating: UInt8(round), count: 1900), for: [UInt8(number)])
          }
        }
      }
      let names = try database.namedVersions()
      #expect(names.first { $0.name == "first" }?.isEnded == true)
      #expect(names.contains { !$0.isEnded })
      let newest = try #require(names.filter { !$0.isEnded }.map(\.version).min())
      for name in names where name.version < newest { #expect(name.isEnded, "\(name)") }
      #expect(throws: StorageError.versionEnded(name: "first", version: first, path: path)) {
        try database.snapshot(named: "first")
      }
      #expect(
        "\(StorageError.versionEnded(name: "first", version: first, path: path))".contains(
          "namedVersionLimit"))
      // A snapshot that was taken earlier is readable as long as it is held.
      #expect(try stamp(held) == 1)
      let kept = try database.pinnedVersions().filter { $0.name != nil }.reduce(0) { $0 + $1.bytes }
      #expect(kept <= 1 << 20)
      try database.keepVersion(named: "first")
      #expect(try stamp(database.snapshot(named: "first")) == stamp(database.snapshot()))
    }
  }

  @Test func `moving or dropping the oldest name at the limit ends no other version`() throws {
    for drops in [true, false] {
      try withTemporaryPath { path in
        var options = Database.Options()
        options.namedVersionLimit = 256 << 10
        let database = try Database(path: path, options: options)
        for name in ["a", "b"] {
          for number in 0..<40 { try set(database, number) }
          try database.keepVersion(named: name)
        }
        let writer = try #require(database.writer)
        var round = UInt8(0)
        // Each commit changes the tree and names the version before.
        while writer.context.namedLimit.excess.load(ordering: .relaxed) == 0, round < 200 {
          round += 1
          let transaction = try database.beginWrite()
          try transaction.tree("b").set([UInt8](repeating: round, count: 9000), for: [1])
          let kept = VersionSlots.Kept(transaction.base, since: 1)
          try transaction.changeCatalogue(added: 1) { (catalogue, editor) throws(StorageError) in
            try VersionSlots.set(kept, for: "n \(round)", in: &catalogue, editor)
          }
          try transaction.commit()
        }
        #expect(round > 10 && round < 200)
        if drops { try database.dropVersion(named: "a") } else { try database.keepVersion(named: "a") }
        let ended = try database.namedVersions().filter(\.isEnded)
        #expect(ended == [])
      }
    }
  }

  @Test func `copies and compacted files have no named versions, and all other content`() throws {
    try withTemporaryPath { path in
      do {
        let database = try Database(path: path)
        for number in 0..<40 { try set(database, number) }
        for name in ["a", "b"] { try database.keepVersion(named: name) }
        for number in 0..<40 { try set(database, number + 50) }
        try database.snapshot().copy(to: path + "-copy")
        try #require(try database.snapshot(named: "a")).copy(to: path + "-old")
        let transaction = try database.beginWrite()
        try transaction.copy(to: path + "-changed")
      }
      #expect(try Database.compact(path: path))
      for (suffix, expected) in [("", 89), ("-copy", 89), ("-old", 39), ("-changed", 89)] as [(String, UInt8)]
      {
        let copy = try Database(path: path + suffix)
        #expect(try copy.namedVersions() == [])
        #expect(try stamp(copy.snapshot()) == expected)
        for number in 0..<10 { try set(copy, number) }
        let findings = try IntegrityCheck.run(copy.snapshot()).findings
        #expect(findings == [])
      }
    }
  }

  /// Readers take no lock that writers take. A name may go while a reader looks for its version.
  @Test(arguments: [nil, Keys.first])
  func `threads read named versions while other threads name, drop and write versions`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      var options = Database.Options(encryptionKey: key)
      options.compaction = .eager
      let handles = [try Database(path: path, options: options), try Database(path: path, options: options)]
      try set(handles[0], 0)
      // This name stays, so that readers that run before or after all others find one, too.
      _ = try handles[0].keepVersion(named: "first")
      for name in 0..<3 { _ = try handles[0].keepVersion(named: "\(name)") }
      let failures = Mutex<[String]>([])
      let found = Mutex(0)
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        var generator = SeededGenerator(seed: UInt64(thread))
        let database = handles[thread % 2]
        do {
          for round in 0..<Slow.count(150, slow: 2000) {
            let name = thread >= 2 && round == 0 ? "first" : "\(generator.below(3))"
            if thread < 2 {
              // All values of a version are equal.
              try database.write(generator.chance(20) ? .full : .relaxed) { transaction in
                let tree = try transaction.tree("alike")
                for key in UInt8(0)..<20 {
                  try tree.set([UInt8](repeating: UInt8(round & 255), count: 700), for: [key])
                }
              }
              if generator.chance(30) { try database.keepVersion(named: name) }
              if generator.chance(30) {
                try database.dropVersion(named: name, durability: generator.chance(50) ? .full : .relaxed)
              }
              continue
            }
            guard let snapshot = try database.snapshot(named: name) else { continue }
            found.withLock { $0 += 1 }
            for _ in 0..<3 {
              var values: Set<[UInt8]> = []
              try snapshot.tree("alike").forEach { _, value in
                values.insert(value)
                return true
              }
              if values.count > 1 { failures.withLock { $0.append("version \(snapshot.version) is mixed") } }
            }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(found.withLock { $0 } > 0)
      #expect(try NamedVersionCheck.run(handles[0]).findings.isEmpty)
    }
  }

  /// The expected version and content of a name.
  private struct Kept {
    var version: UInt64
    var fingerprint: UInt64
  }

  @Test(arguments: Slow.seeds(4, slow: 12), [nil, Keys.first])
  func `each name leads to its version after writes, moves, shortening and reopening`(
    seed: UInt64, key: [UInt8]?
  ) throws {
    var generator = SeededGenerator(seed: seed)
    var options = Database.Options(encryptionKey: key, decryptedMemory: 1 << 20)
    options.compaction = .eager
    options.clusterRows = 8
    options.spillBytes = 1 << 16
    try withTemporaryPath { path in
      var handles = [try Database(path: path, options: options), try Database(path: path, options: options)]
      var content = Content()
      var names: [String: Kept] = [:]
      var pinned: [(snapshot: Snapshot, fingerprint: UInt64)] = []
      for round in 0..<Slow.count(80, slow: 500) {
        let database = handles[generator.below(handles.count)]
        var next = content
        do {
          let transaction = try database.beginWrite()
          try Workload.change(transaction, &next, &generator)
          if !generator.chance(10) {
            try transaction.commit(generator.chance(50) ? .full : .relaxed)
            content = next
          }
        }
        let name = "\(generator.below(6))"
        switch generator.below(10) {
        case 0, 1:
          names[name] = Kept(
            version: try database.keepVersion(named: name), fingerprint: content.fingerprint)
        case 2:
          if let pin = pinned.first {
            try pin.snapshot.database.keepVersion(of: pin.snapshot, named: name)
            names[name] = Kept(version: pin.snapshot.version, fingerprint: pin.fingerprint)
          }
        case 3: #expect(try database.dropVersion(named: name) == (names.removeValue(forKey: name) != nil))
        case 4:
          if let kept = names[name] {
            try pinned.append((#require(try database.snapshot(named: name)), kept.fingerprint))
          }
        case 5: try pinned.append((database.snapshot(), content.fingerprint))
        default: break
        }
        if generator.chance(20), !pinned.isEmpty { pinned.remove(at: generator.below(pinned.count)) }
        let reader = handles[generator.below(handles.count)]
        #expect(try Content.fingerprint(of: reader.snapshot()) == content.fingerprint)
        for pin in pinned { #expect(try Content.fingerprint(of: pin.snapshot) == pin.fingerprint) }
        if round % 3 == 0 { try Self.compare(reader, names) }
        guard generator.chance(6) else { continue }
        pinned = []
        handles.removeAll()
        handles = [
          try Database(path: path, options: options), try Database(path: path, options: options),
        ]
        try Self.compare(handles[1], names)
      }
      let findings = try NamedVersionCheck.run(handles[0]).findings
      #expect(findings.isEmpty, "\(findings)")
    }
  }

  private static func compare(_ database: Database, _ names: [String: Kept]) throws {
    let found = try database.namedVersions()
    #expect(found.map(\.name) == names.keys.sorted())
    for (name, kept) in names {
      let snapshot = try #require(try database.snapshot(named: name))
      #expect(snapshot.version == kept.version)
      #expect(try Content.fingerprint(of: snapshot) == kept.fingerprint, "name \(name)")
    }
  }
}
