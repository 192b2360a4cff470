import RealmStorage
import RealmTestSupport

struct Violation: Error {
  var seed: UInt64
  var what: String
}

/// Chains of lives of a database. Each life opens what the life before it left, compares it with what was acknowledged,
/// commits some more, and ends with a kill, a loss of power, a failed sync or a clean close.
struct CrashRun {
  let isEncrypted: Bool
  let seed: UInt64
  let states: Int
  private var seen: Set<UInt64> = []
  private var figures = Figures()

  private struct Figures {
    var states = 0
    var commits = 0
    var groups = 0
    var afterRecycling = 0
    var afterMoving = 0
    var afterTruncation = 0
    var depthTwo = 0
    var fallBacks = 0
    var failedSyncs = 0
    var cleanCloses = 0
    /// The number of states that opened with a version that is kept by a name.
    var named = 0
    /// The number of states that opened with a name whose version was given up.
    var ended = 0
  }

  init(isEncrypted: Bool, seed: UInt64, states: Int) {
    self.isEncrypted = isEncrypted
    self.seed = seed
    self.states = states
  }

  var reachesItsFloors: Bool {
    seen.count >= states && figures.afterRecycling * 5 >= figures.states
      && figures.depthTwo * 10 >= figures.states && figures.afterMoving * 10 >= figures.states
      && figures.afterTruncation * 20 >= figures.states && figures.named * 5 >= figures.states
      && figures.ended * 100 >= figures.states
  }

  var summary: String {
    "crash encrypted=\(isEncrypted) states=\(seen.count) opened=\(figures.states) commits=\(figures.commits) groups=\(figures.groups) "
      + "recycled=\(figures.afterRecycling) moved=\(figures.afterMoving) cut=\(figures.afterTruncation) "
      + "fallBacks=\(figures.fallBacks) depth2=\(figures.depthTwo) "
      + "failedSyncs=\(figures.failedSyncs) cleanCloses=\(figures.cleanCloses) named=\(figures.named) ended=\(figures.ended) lost=0 wrong=0 hung=0 seed=\(seed)"
  }

  mutating func explore(watchedBy alarm: Alarm) throws(Violation) {
    var chainSeed = seed
    while seen.count < states {
      alarm.begin("seed=\(chainSeed) encrypted=\(isEncrypted)")
      defer { alarm.end() }
      do {
        try runChain(seed: chainSeed)
      } catch let violation as Violation {
        throw violation
      } catch {
        throw Violation(seed: chainSeed, what: "a healthy database refuses: \(error)")
      }
      chainSeed += 1
    }
  }

  // MARK: - One chain

  /// What a version holds, and which versions it keeps by name.
  private struct Known {
    var content = Content()
    var names: [String: Name] = [:]

    struct Name {
      var version: UInt64
      /// The fingerprint of what that version holds.
      var fingerprint: UInt64
    }

    /// The fingerprint of the content, of the names, and of the numbers of their versions.
    var fingerprint: UInt64 { Self.fingerprint(content.fingerprint, names.mapValues(\.version)) }

    static func fingerprint(_ content: UInt64, _ names: [String: UInt64]) -> UInt64 {
      var hash = Fingerprint()
      hash.add(Array("\(content)".utf8))
      for (name, version) in names.sorted(by: { $0.key < $1.key }) {
        hash.add(Array("\(name) \(version)".utf8))
      }
      return hash.value
    }
  }

  /// The oracle's knowledge: all contents that a version may have, and which of them were acknowledged.
  private struct History {
    /// The index of each content in `known`, by its fingerprint. The indexes are in the order in which the contents
    /// were made.
    var order: [UInt64: Int] = [:]
    var known: [Known] = []
    /// The index of the last content that was acknowledged to survive a loss of power, and of the last content that was
    /// acknowledged at all.
    var full = 0
    var any = 0

    mutating func add(_ made: Known) -> Int {
      order[made.fingerprint] = known.count
      known.append(made)
      return known.count - 1
    }

    mutating func acknowledge(_ index: Int, _ durability: Durability) {
      any = max(any, index)
      if durability == .full { full = max(full, index) }
    }
  }

  private mutating func runChain(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var history = History()
    _ = history.add(Known())
    var disk = SimulatedDisk()
    do { _ = try Database(creatingIn: disk, options: options) } catch {
      throw Violation(seed: seed, what: "an empty database can't be made: \(error)")
    }
    var past = Past()
    for _ in 0..<12 {
      let dies = generator.chance(75)
      disk.follow(
        .init(
          dieAt: dies ? generator.below(generator.chance(30) ? 4 : 60) : nil,
          pagesWritten: generator.below(8),
          failSync: generator.chance(15) ? generator.below(8) : nil, diesInFailedSync: generator.chance(50)))
      note(disk, past)
      let eventsBefore = disk.events.count
      let life = try live(on: disk, seed: seed, &history, &generator)
      past.crashedInRecovery = disk.isDead && !life.opened && disk.events.count > eventsBefore
      if life.syncFailed { figures.failedSyncs += 1 }
      past.recycled = past.recycled || life.recycled
      past.moved = past.moved || life.moved
      past.truncated = past.truncated || life.truncated
      let loses = !life.closedCleanly && generator.chance(60) || generator.chance(10)
      if loses {
        // The same loss of power has several outcomes. The next life goes on from the last of them.
        for _ in 0..<generator.below(4) {
          let other = disk.afterPowerLoss(&generator)
          note(other, past)
          var copy = history
          copy.any = copy.full
          try check(other, seed: seed, &copy)
        }
        disk = disk.afterPowerLoss(&generator)
        history.any = history.full
      } else {
        disk = disk.afterKill(&generator)
        if life.syncFailed { history.any = history.full }
      }
    }
  }

  /// What happened in the lives before a state.
  private struct Past {
    var recycled = false
    var moved = false
    var truncated = false
    var crashedInRecovery = false
  }

  private mutating func note(_ disk: SimulatedDisk, _ past: Past) {
    seen.insert(disk.fingerprint)
    figures.states += 1
    if past.recycled { figures.afterRecycling += 1 }
    if past.moved { figures.afterMoving += 1 }
    if past.truncated { figures.afterTruncation += 1 }
    if past.crashedInRecovery { figures.depthTwo += 1 }
  }

  private var options: Database.Options {
    var options = Database.Options(encryptionKey: isEncrypted ? Keys.first : nil, decryptedMemory: 1 << 20)
    options.spillBytes = 1 << 16
    // The tables of this run are small. The clusters are small, too, so that some of them are full.
    options.clusterRows = 8
    // The files are small, too. With this option nodes are moved and the end is cut off all the same.
    options.compaction = .eager
    // The limit is so low that versions are given up.
    options.namedVersionLimit = 192 << 10
    return options
  }

  private mutating func check(_ disk: SimulatedDisk, seed: UInt64, _ history: inout History) throws {
    do {
      let database = try Database(storage: disk, options: options)
      try compare(database, seed: seed, &history)
    } catch let error as StorageError {
      throw Violation(seed: seed, what: "nothing opens: \(error)")
    }
  }

  private struct Life {
    var opened = false
    var recycled = false
    var moved = false
    var truncated = false
    var closedCleanly = false
    var syncFailed = false
  }

  /// Opens the database, compares it, commits to it, and ends when the plan of the disk says so.
  private mutating func live(
    on disk: SimulatedDisk, seed: UInt64, _ history: inout History, _ generator: inout SeededGenerator
  ) throws -> Life {
    var life = Life()
    let greatest = greatestNumber(on: disk)
    let database: Database
    do {
      database = try Database(storage: disk, options: options)
    } catch {
      life.syncFailed = disk.hasFailedSync
      if disk.isDead || life.syncFailed { return life }
      throw Violation(seed: seed, what: "nothing opens: \(error)")
    }
    life.opened = true
    var known = try compare(database, seed: seed, &history)
    var pinned: [(snapshot: Snapshot, fingerprint: UInt64)] = []
    for _ in 0..<generator.below(12) {
      if generator.chance(20) { try pinned.append((database.snapshot(), known.content.fingerprint)) }
      let version = database.version
      guard let next = try commit(to: database, disk, known, &history, &generator, &life) else { break }
      known = next
      guard database.version == version || database.version > greatest else {
        throw Violation(seed: seed, what: "version \(database.version) is given though \(greatest) was")
      }
      figures.commits += 1
      for pin in pinned where try Content.fingerprint(of: pin.snapshot) != pin.fingerprint {
        throw Violation(seed: seed, what: "the snapshot of version \(pin.snapshot.version) changed")
      }
      if generator.chance(30) {
        let pin = generator.chance(30) ? pinned.first : nil
        guard let next = try changeNames(of: database, disk, known, pin, &history, &generator, &life) else {
          break
        }
        known = next
      }
      if generator.chance(30), !pinned.isEmpty { pinned.removeFirst() }
    }
    if !disk.isDead, !life.syncFailed { _ = try checkNames(of: database, known, seed: seed) }
    life.recycled = database.recycledPages > 0
    let compacted = database.compacted
    life.moved = compacted.movedNodes > 0
    life.truncated = compacted.truncations > 0
    if !disk.isDead, !life.syncFailed, generator.chance(50) {
      pinned = []
      database.close()
      life.syncFailed = disk.hasFailedSync
      life.closedCleanly = !disk.isDead && !life.syncFailed
      if life.closedCleanly {
        figures.cleanCloses += 1
        history.full = history.any
      }
    } else if !disk.isDead {
      disk.follow(.init(dieAt: disk.events.count))
      database.close()
    }
    return life
  }

  /// The greatest version number that a sound meta page says was given.
  private func greatestNumber(on disk: SimulatedDisk) -> UInt64 {
    var greatest: UInt64 = 0
    for page in 0..<2 {
      guard let bytes = try? disk.read(4096, at: UInt64(page * 4096)),
        case .sound(let meta) = MetaPage.read(bytes)
      else { continue }
      greatest = max(greatest, meta.greatest)
    }
    return greatest
  }

  private mutating func commit(
    to database: Database, _ disk: SimulatedDisk, _ known: Known, _ history: inout History,
    _ generator: inout SeededGenerator, _ life: inout Life
  ) throws -> Known? {
    var next = known
    var onTheirWay: [(transaction: SealedTransaction, index: Int, durability: Durability)] = []
    do {
      // Several transactions are sealed one after another while the disk is busy, like those of several threads.
      for _ in 0..<(generator.chance(20) ? 2 + generator.below(3) : 1) {
        var changed = next
        let transaction = try database.beginWrite()
        // Writing a sealed transaction may have failed meanwhile. This transaction would then begin without its
        // changes.
        if disk.isDead { return nil }
        try Workload.change(transaction, &changed.content, &generator)
        // The stamp makes each content unique, so that the content identifies the version.
        let stamp = generator.bytes(8)
        try transaction.tree("stamp").set(stamp, for: [0])
        changed.content.trees["stamp"] = [[0]: stamp]
        if generator.chance(10) {
          transaction.cancel()
          continue
        }
        let index = history.add(changed)
        let durability: Durability = generator.chance(60) ? .full : .relaxed
        onTheirWay.append((try transaction.seal(durability), index, durability))
        next = changed
      }
      if onTheirWay.count > 1 { figures.groups += 1 }
      // The transaction that waits first leads the commits.
      if generator.chance(50) { onTheirWay.reverse() }
      for (transaction, index, durability) in onTheirWay {
        try transaction.wait()
        history.acknowledge(index, durability)
      }
      return next
    } catch {
      // A content whose commit was under way may or may not be found. After a failed sync relaxed commits may be lost.
      life.syncFailed = disk.hasFailedSync
      guard disk.isDead || life.syncFailed else { throw error }
      return nil
    }
  }

  /// Keeps the newest version or a pinned version by a name, or drops a name.
  private mutating func changeNames(
    of database: Database, _ disk: SimulatedDisk, _ known: Known,
    _ pin: (snapshot: Snapshot, fingerprint: UInt64)?, _ history: inout History,
    _ generator: inout SeededGenerator, _ life: inout Life
  ) throws -> Known? {
    let name = ["one", "two", "three"][generator.below(3)]
    var (next, durability) = (known, Durability.full)
    let drops = pin == nil && known.names[name] != nil && generator.chance(50)
    if drops {
      next.names[name] = nil
      durability = generator.chance(50) ? .full : .relaxed
    } else {
      next.names[name] = Known.Name(
        version: pin?.snapshot.version ?? database.version,
        fingerprint: pin?.fingerprint ?? known.content.fingerprint)
    }
    let index = history.add(next)
    do {
      if drops {
        try database.dropVersion(named: name, durability: durability)
      } else if let pin {
        try database.keepVersion(of: pin.snapshot, named: name)
      } else {
        try database.keepVersion(named: name)
      }
      history.acknowledge(index, durability)
      return next
    } catch {
      life.syncFailed = disk.hasFailedSync
      guard disk.isDead || life.syncFailed else { throw error }
      return nil
    }
  }

  /// Checks that each name leads to the content that the name was given to.
  private func checkNames(
    of database: Database, _ known: Known, seed: UInt64
  ) throws -> (whole: Int, ended: Int) {
    var (whole, ended) = (0, 0)
    for version in try database.namedVersions() {
      if version.isEnded {
        ended += 1
        continue
      }
      whole += 1
      let what = "version \(version.version), kept by the name \(version.name),"
      guard let snapshot = try database.snapshot(named: version.name), let name = known.names[version.name]
      else {
        throw Violation(seed: seed, what: "\(what) is not there")
      }
      do {
        if figures.states % 8 == 0, let problem = IntegrityCheck.run(snapshot).problem { throw problem }
        guard try Content.fingerprint(of: snapshot) == name.fingerprint else {
          throw Violation(seed: seed, what: "\(what) changed")
        }
      } catch let error as StorageError {
        throw Violation(seed: seed, what: "\(what) is damaged: \(error)")
      }
    }
    return (whole, ended)
  }

  @discardableResult
  private mutating func compare(
    _ database: Database, seed: UInt64, _ history: inout History
  ) throws -> Known {
    let snapshot = try database.snapshot()
    if let problem = IntegrityCheck.run(snapshot).problem {
      throw Violation(seed: seed, what: "version \(snapshot.version) opens damaged: \(problem)")
    }
    let names = try Dictionary(
      uniqueKeysWithValues: database.namedVersions().map { ($0.name, $0.version) })
    let fingerprint = Known.fingerprint(try Content.fingerprint(of: snapshot), names)
    guard let index = history.order[fingerprint] else {
      throw Violation(seed: seed, what: "version \(snapshot.version) opens with content nobody committed")
    }
    guard index >= history.any else {
      throw Violation(
        seed: seed,
        what: "content \(index) opens, but \(history.any) was acknowledged (full: \(history.full))")
    }
    let (whole, ended) = try checkNames(of: database, history.known[index], seed: seed)
    if whole > 0 { figures.named += 1 }
    if ended > 0 { figures.ended += 1 }
    if index < history.known.count - 1 { figures.fallBacks += 1 }
    // The content that has opened is durable now. The next life builds on it.
    history.any = index
    history.full = index
    return history.known[index]
  }
}
