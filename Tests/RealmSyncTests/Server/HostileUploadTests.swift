import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Uploads that the library's clients do not make.
@Suite struct HostileUploadTests {
  @Test func `any upload is integrated, and a refused part of it changes nothing`() throws {
    var (accepted, refused, changed) = (0, 0, 0)
    for seed in Slow.seeds(20, slow: 2000) {
      var maker = HostileMaker(seed: seed)
      let database = try Database(inMemory: "server")
      let transaction = try database.beginWrite()
      try ModelClass.make(transaction)
      let state = try ServerState(transaction, settings: ModelClass.settings)
      try state.integrate(
        LogRecord(tag: 1, time: 1000, .register(Registration(replica: 5, user: "anna"))), in: transaction)
      try state.integrate(
        LogRecord(tag: 2, time: 1000, .querySet(replica: 5, number: 1, .everything)), in: transaction)
      var (sequence, last) = (UInt64(1), [UInt8]())
      for _ in 0..<120 {
        // A changeset of a client is always read from bytes.
        guard let changeset = try? Changeset(bytes: maker.changeset().bytes) else { continue }
        let before = try ModelClass.texts(transaction) { UInt64($0) }
        let hash = "\(seed) \(sequence)".utf8.map(\.self).contentHash
        let upload = Upload(
          replica: 5, user: "anna", sequence: sequence, previous: last, hash: hash,
          base: maker.generator.chance(90) ? 1 : .max, stamp: Stamp(milliseconds: 1000), querySets: [1],
          replicas: [0, 5, 5, 9], changeset: changeset)
        let done = try state.integrate(LogRecord(tag: 3, time: 1000, .upload(upload)), in: transaction)
        guard let done else { continue }
        accepted += 1
        refused += done.refusals.count
        changed += done.objects.count
        (sequence, last) = (sequence + 1, hash)
        let after = try ModelClass.texts(transaction) { UInt64($0) }
        // A new property of all objects is told with each of them.
        guard changeset.schema.isEmpty else { continue }
        let mayChange = Set(done.objects.map(\.name.key))
        for key in Set(before.keys).union(after.keys) where !mayChange.contains(.int(key)) {
          #expect(before[key] == after[key], "seed \(seed), sequence \(upload.sequence), object \(key)")
        }
        if maker.generator.chance(5) {
          try state.integrate(
            LogRecord(tag: 4, time: 1000, .trim(horizon: state.version - 1)), in: transaction)
        }
      }
      try transaction.commit()
      let check = IntegrityCheck.run(try database.snapshot())
      #expect(check.isClean, "seed \(seed): \(check.findings)")
    }
    #expect(accepted > 100 && refused > 100 && changed > 100)
  }

  @Test func `more than two hundred classes or properties are refused`() throws {
    let driven = try DrivenServer()
    let client = try driven.running("anna")
    let known = try driven.database.snapshot().schemas()
    var changeset = Changeset()
    for number in 0..<300 {
      changeset.schema.append(
        .addTable("Flood\(number)", key: PropertyDefinition("id", .int64)))
    }
    for number in 0..<300 {
      changeset.schema.append(.addProperty(table: "Flood0", PropertyDefinition("p\(number)", .int64)))
    }
    // A class or property that is there already is not refused.
    changeset.schema.append(.addTable("Flood1", key: PropertyDefinition("id", .int64)))
    changeset.schema.append(.addProperty(table: "Flood0", PropertyDefinition("p1", .int64)))
    let object = ObjectName("Flood299", .int(1))
    changeset.objects = [ObjectInstructions(object, [.create])]
    try client.upload(changeset)
    try driven.run()
    let refusals = try #require(client.own.last?.refusals)
    let schemas = try driven.database.snapshot().schemas()
    #expect(schemas.count == 200)
    #expect(schemas.first { $0.name == "Flood0" }?.columns.count { !$0.isCompanion } == 200)
    let tooMany = refusals.filter { $0.reason == .tooLarge }
    #expect(tooMany.count == (300 + known.count - 200) + (301 - 200))
    #expect(refusals.last == Refusal(subject: .object(object), reason: .schemaMismatch))
    #expect(refusals.count == tooMany.count + 1)
  }
}
