import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct NodeStoreTests {
  /// The unit of the length field in a ref: one word of 8 bytes.
  private static let lengthWord = UInt64(1) << 42

  /// The finding for a node whose bytes differ from those that its ref vouches for.
  private func damage(_ key: [UInt8]?) -> Corruption.Finding { key == nil ? .checksum : .authentication }

  // MARK: - Whole nodes

  @Test(arguments: 0..<4, [nil, Keys.first])
  func `a written node reads back unchanged`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let file = try NodeFile(key: key)
    var lengths = [0, 1, 8, 40, 4072, 4096, Ref.maximumLength - 24]
    for _ in 0..<10 { lengths.append(generator.below(10_000)) }
    var written: [(ref: Ref, content: [UInt8])] = []
    for length in lengths {
      let content = generator.bytes(length)
      let ref = try file.writeChunk(content, birth: 1 + UInt64(written.count))
      written.append((ref, content))
    }
    let reopened = try file.reopened()
    for (ref, content) in written {
      let isSame = try file.content(of: ref) == content
      let isSameAgain = try file.content(of: ref) == content
      let isSameElsewhere = try reopened.content(of: ref) == content
      #expect(isSame && isSameAgain && isSameElsewhere, "\(content.count) bytes")
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a reader of many nodes tells the storage once that many more reads follow`(key: [UInt8]?) throws {
    let storage = try CountingStorage()
    let file = try NodeFile(storage: storage, cipher: NodeFile.cipher(key, fileID: 2))
    let refs = try (0..<200).map { try file.writeChunk([UInt8($0)], birth: 1) }
    let reopened = try file.reopened()
    for (index, ref) in refs.enumerated() {
      _ = try reopened.content(of: ref)
      _ = try reopened.content(of: ref)
      #expect(storage.timesToldOfMuch == (index < 127 ? 0 : 1), "after \(index + 1) nodes")
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a parent gives the refs of its children`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    var chunks: [Ref] = []
    for number in 0..<50 {
      let chunk = try file.writeChunk([UInt8(number)], birth: 3)
      chunks.append(chunk)
    }
    let body = NodeFile.branchBody(chunks, chunkLength: 1)
    let parent = try file.write(.chunkBranch, body: body, children: chunks, birth: 4)
    let topBody = NodeFile.branchBody([parent], chunkLength: 50)
    let top = try file.write(.chunkBranch, body: topBody, children: [parent], birth: 4)
    let reopened = try file.reopened()
    #expect(try reopened.children(of: top) == [parent])
    #expect(try reopened.children(of: parent) == chunks)
    #expect(try reopened.content(of: top) == [UInt8](0..<50))
    #expect(top.level == 2)
  }

  // MARK: - Damage

  @Test(arguments: [nil, Keys.first])
  func `a changed byte is found`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    let content = [UInt8](0..<200)
    let ref = try file.writeChunk(content, birth: 7)
    var missed: [Int] = []
    for (index, byte) in try file.raw(ref).enumerated() {
      for mask: UInt8 in [0x01, 0x80, 0xff] {
        try file.overwrite([byte ^ mask], at: ref.offset + UInt64(index))
        if try file.finding(ref) != damage(key) { missed.append(index) }
      }
      try file.overwrite([byte], at: ref.offset + UInt64(index))
    }
    #expect(missed == [])
    #expect(try file.content(of: ref) == content)
  }

  @Test(arguments: 0..<3, [nil, Keys.first])
  func `a torn node is told apart from a whole one`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let file = try NodeFile(key: key)
    let old = try file.raw(file.writeChunk(generator.bytes(8000), birth: 1, page: 2))
    let ref = try file.writeChunk(generator.bytes(8000), birth: 2, page: 2)
    let new = try file.raw(ref)
    for sector in 0..<new.count / 512 {
      let range = sector * 512..<(sector + 1) * 512
      try file.overwrite(Array(old[range]), at: ref.offset + UInt64(range.lowerBound))
      #expect(try file.finding(ref) == damage(key), "sector \(sector)")
      try file.overwrite(Array(new[range]), at: ref.offset + UInt64(range.lowerBound))
    }
    #expect(try file.finding(ref) == nil)
  }

  @Test(arguments: [nil, Keys.first])
  func `a node on a recycled page is verified again`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    let first = try file.writeChunk([UInt8](repeating: 1, count: 100), birth: 3, page: 2)
    #expect(try file.finding(first) == nil)
    let second = try file.writeChunk([UInt8](repeating: 2, count: 100), birth: 4, page: 2)
    let whole = try file.raw(second)
    try file.overwrite([whole[60] ^ 1], at: second.offset + 60)
    #expect(try file.finding(second) == damage(key))
    try file.overwrite(whole, at: second.offset)
    #expect(try file.content(of: second) == [UInt8](repeating: 2, count: 100))
  }

  // MARK: - Wrong refs

  /// Refs that start at the place of `ref` or beside it, and describe another node.
  private func wrongRefs(for ref: Ref) -> [Ref] {
    var refs: [Ref] = []
    func addPlace(_ place: UInt64) {
      refs.append(Ref(place: place, identity: ref.identity, check: ref.check, check2: ref.check2))
    }
    func addIdentity(_ identity: UInt64) {
      refs.append(Ref(place: ref.place, identity: identity, check: ref.check, check2: ref.check2))
    }
    addPlace(ref.place - Self.lengthWord)
    addPlace(ref.place + Self.lengthWord)
    addPlace(ref.place | (Self.lengthWord * 0x7fff))
    addPlace(ref.place - 1)
    addPlace(ref.place + 1)
    addPlace(ref.place + 64)
    addIdentity(ref.identity - 1)
    addIdentity(ref.identity + 1)
    addIdentity(Ref.identity(birth: Ref.maximumBirth, kind: .chunk, level: 0))
    addIdentity(Ref.identity(birth: 0, kind: .chunk, level: 0))
    addIdentity(Ref.identity(birth: ref.birth, kind: .leaf, level: 0))
    addIdentity(Ref.identity(birth: ref.birth, kind: .chunk, level: 1))
    addIdentity(Ref.identity(birth: ref.birth, kind: .chunkBranch, level: 1))
    addIdentity(ref.birth)
    addIdentity(ref.birth | (UInt64(0xff) << 48))
    return refs
  }

  @Test(arguments: [nil, Keys.first])
  func `a ref that describes another node than the one at its place is refused`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    let ref = try file.writeChunk([UInt8](0..<200), birth: 7, page: 3)
    _ = try file.writeChunk([UInt8](1...200), birth: 7)
    var wrong = wrongRefs(for: ref)
    for bit in 57..<64 {
      let place = ref.place | (UInt64(1) << UInt64(bit))
      wrong.append(Ref(place: place, identity: ref.identity, check: ref.check, check2: ref.check2))
    }
    for bit in 0..<64 {
      let flipped = UInt64(1) << UInt64(bit)
      let (check, check2) = (ref.check ^ flipped, ref.check2 ^ flipped)
      wrong.append(Ref(place: ref.place, identity: ref.identity, check: check, check2: ref.check2))
      guard key != nil else { continue }
      wrong.append(Ref(place: ref.place, identity: ref.identity, check: ref.check, check2: check2))
    }
    let fresh = try file.reopened()
    for forged in wrong { #expect(try fresh.finding(forged) != nil, "\(forged)") }
    #expect(try fresh.content(of: ref) == [UInt8](0..<200))
  }

  @Test(arguments: [nil, Keys.first])
  func `a wrong ref of a verified node is refused`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    let ref = try file.writeChunk([UInt8](0..<200), birth: 7, page: 3)
    _ = try file.writeChunk([UInt8](1...200), birth: 7)
    for forged in wrongRefs(for: ref) {
      let fresh = try file.reopened()
      #expect(try fresh.finding(ref) == nil)
      #expect(try fresh.finding(forged) != nil, "\(forged)")
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a refused ref leaves the node at its place readable`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    let ref = try file.writeChunk([UInt8](0..<200), birth: 7)
    #expect(try file.finding(ref) == nil)
    let stranger = Ref(place: ref.place, identity: ref.identity + 1, check: ref.check, check2: ref.check2)
    #expect(try file.finding(stranger) != nil)
    #expect(try file.finding(ref) == nil)
    #expect(try file.content(of: ref) == [UInt8](0..<200))
  }

  @Test(arguments: [nil, Keys.first])
  func `a ref to a place outside of the file is refused`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    let ref = try file.writeChunk([UInt8](0..<200), birth: 7)
    let units = try file.storage.length() / 64
    let mapped = UInt64(file.storage.mapping.size / 64)
    let strays: [UInt64] = [0, 1, 127, units, units + 1, mapped - 1, mapped, Ref.unitMask]
    for unit in strays {
      let place = ref.place - ref.unit + unit
      let stray = Ref(place: place, identity: ref.identity, check: ref.check, check2: ref.check2)
      #expect(try file.finding(stray) == .place, "unit \(unit)")
    }
    let across = Ref(unit: units - 1, length: 72, identity: ref.identity, dirty: false)
    #expect(try file.finding(across) == .place)
    #expect(try file.finding(.null) == .place)
    let end = ref.offset + UInt64(file.store.extent(ofLength: ref.length))
    // The end of a node is checked to the unit.
    #expect(try file.finding(ref, below: end - UInt64(Ref.unit)) == .place)
    #expect(try file.finding(ref, below: end) == nil)
  }

  // MARK: - Sealed nodes out of place

  @Test func `sealed nodes that exchanged their places are refused`() throws {
    let file = try NodeFile(key: Keys.first)
    let first = try file.writeChunk([UInt8](repeating: 1, count: 100), birth: 3)
    let second = try file.writeChunk([UInt8](repeating: 2, count: 100), birth: 3)
    let firstBytes = try file.raw(first)
    let secondBytes = try file.raw(second)
    try file.overwrite(secondBytes, at: first.offset)
    try file.overwrite(firstBytes, at: second.offset)
    for ref in [first, second] { #expect(try file.finding(ref) == .authentication) }
    let movedWithItsTag = Ref(
      place: second.place, identity: first.identity, check: first.check, check2: first.check2)
    #expect(try file.finding(movedWithItsTag) == .authentication)
  }

  @Test func `a sealed node of an older commit or of another file is refused`() throws {
    let file = try NodeFile(key: Keys.first)
    let old = try file.writeChunk([UInt8](repeating: 1, count: 100), birth: 3, page: 2)
    let oldBytes = try file.raw(old)
    let new = try file.writeChunk([UInt8](repeating: 2, count: 100), birth: 4, page: 2)
    let newBytes = try file.raw(new)
    try file.overwrite(oldBytes, at: new.offset)
    #expect(try file.finding(new) == .authentication)
    let renamed = Ref(place: old.place, identity: new.identity, check: old.check, check2: old.check2)
    #expect(try file.finding(renamed) == .authentication)
    try file.overwrite(newBytes, at: new.offset)
    #expect(try file.finding(new) == nil)
    let other = try NodeFile(storage: file.storage, cipher: NodeFile.cipher(Keys.first, fileID: 3))
    #expect(try other.finding(new) == .authentication)
    let wrongKey = try NodeFile(storage: file.storage, cipher: NodeFile.cipher(Keys.second, fileID: 2))
    #expect(try wrongKey.finding(new) == .authentication)
  }

  // MARK: - Forged nodes

  @Test(arguments: [nil, Keys.first])
  func `a child that is younger than its parent, or not of a lower level, is refused`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    let child = try file.writeChunk([1], birth: 5)
    let other = try file.writeChunk([2], birth: 4)
    let children = [child, other]
    let body = NodeFile.branchBody(children, chunkLength: 1)
    let sound = try file.write(.chunkBranch, body: body, children: children, birth: 5)
    #expect(try file.finding(sound) == nil)
    var forgeries: [(offset: Int, word: UInt64)] = []
    for identity in [
      Ref.identity(birth: 6, kind: .chunk, level: 0),
      Ref.identity(birth: Ref.maximumBirth, kind: .chunk, level: 0),
      Ref.identity(birth: 0, kind: .chunk, level: 0),
      Ref.identity(birth: 5, kind: .chunkBranch, level: 1),
      Ref.identity(birth: 5, kind: .chunkBranch, level: 255),
      UInt64(5) | (UInt64(0xff) << 48),
    ] {
      forgeries.append((8, identity))
    }
    for bit in [41, 57, 63] { forgeries.append((0, child.place | (UInt64(1) << UInt64(bit)))) }
    let width = file.store.refWidth.bytes
    for forgery in forgeries {
      for index in children.indices {
        let parent = try file.write(.chunkBranch, body: body, children: children, birth: 5) { node in
          node.storeBytes(
            of: forgery.word.littleEndian, toByteOffset: 16 + index * width + forgery.offset,
            as: UInt64.self)
        }
        #expect(try file.finding(parent) == .order, "\(forgery) in child \(index)")
      }
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a header that does not repeat its ref is refused`(key: [UInt8]?) throws {
    let file = try NodeFile(key: key)
    let child = try file.writeChunk([1], birth: 5)
    let other = try file.writeChunk([2], birth: 5)
    let children = [child, other]
    let body = NodeFile.branchBody(children, chunkLength: 1)
    let forgeries: [(offset: Int, byte: UInt8)] = [
      (0, 0xff), (5, 1), (6, 1), (7, 2), (8, 0), (9, 1), (11, 0x80), (12, 0), (12, 0xff), (13, 0xff), (14, 1),
      (15, 1),
    ]
    for forgery in forgeries {
      let parent = try file.write(.chunkBranch, body: body, children: children, birth: 5) { node in
        node[forgery.offset] = forgery.byte
      }
      #expect(try file.finding(parent) == .header, "\(forgery)")
    }
    let refless = try file.write(.chunkBranch, body: body, birth: 5) { node in node[7] = 1 }
    let claimed = Ref(
      place: refless.place, identity: refless.identity | (UInt64(1) << 56), check: refless.check,
      check2: refless.check2)
    #expect(try file.finding(claimed) == .header)
  }

  @Test(arguments: 0..<5, [nil, Keys.first])
  func `a forged node is refused or safe to read`(seed: UInt64, key: [UInt8]?) throws {
    var generator = SeededGenerator(seed: seed)
    let file = try NodeFile(key: key)
    let first = try file.writeChunk([1, 2], birth: 1)
    let second = try file.writeChunk([3, 4], birth: 1)
    let chunks = [first, second]
    let place = file.nextPage
    var refused = 0
    for birth in UInt64(2)..<200 {
      let children = generator.chance(50) ? chunks : []
      var kind: NodeKind = children.isEmpty ? .chunk : .chunkBranch
      if generator.chance(50) { kind = NodeKind.allCases[generator.below(NodeKind.allCases.count)] }
      var body = NodeFile.branchBody(chunks, chunkLength: 2) + generator.bytes(generator.below(40))
      if children.isEmpty { body = NodeFile.chunkBody(body) }
      let length = 16 + body.count
      var changes: [(offset: Int, byte: UInt8)] = []
      for _ in 0..<generator.below(4) {
        let offset = generator.below(length)
        let byte = generator.chance(50) ? generator.below(9) : 255
        changes.append((offset, UInt8(byte)))
      }
      let forged = try file.write(kind, body: body, children: children, birth: birth, page: place) { node in
        for change in changes { node[change.offset] = change.byte }
      }
      if try file.finding(forged) == nil { _ = try? file.content(of: forged) } else { refused += 1 }
    }
    #expect(refused > 0)
    #expect(refused < 198)
  }

  // MARK: - Nodes seen

  @Test func `a verified node does not make other refs verified`() throws {
    let memory = try #require(Mapping.anonymous(SeenNodes.size(forBytes: 1 << 20)))
    defer { withExtendedLifetime(memory) {} }
    let seen = SeenNodes(memory)
    #expect(!seen.contains(unit: 130, birth: 5))
    #expect(!seen.contains(unit: 130, birth: 0))
    seen.insert(unit: 130, birth: 5)
    seen.insert(unit: 191, birth: 5)
    #expect(seen.contains(unit: 130, birth: 5))
    #expect(seen.contains(unit: 191, birth: 5))
    for unit in [UInt64(128), 129, 131, 190] { #expect(!seen.contains(unit: unit, birth: 5), "unit \(unit)") }
    for unit in [UInt64(66), 127, 192, 194] { #expect(!seen.contains(unit: unit, birth: 5), "unit \(unit)") }
    #expect(!seen.contains(unit: 130, birth: 4))
    #expect(!seen.contains(unit: 130, birth: 6))
  }

  @Test func `a recycled page starts without verified nodes`() throws {
    let memory = try #require(Mapping.anonymous(SeenNodes.size(forBytes: 1 << 20)))
    defer { withExtendedLifetime(memory) {} }
    let seen = SeenNodes(memory)
    seen.insert(unit: 130, birth: 5)
    seen.insert(unit: 131, birth: 6)
    #expect(seen.contains(unit: 131, birth: 6))
    #expect(!seen.contains(unit: 130, birth: 6))
    #expect(!seen.contains(unit: 130, birth: 5))
    seen.insert(unit: 200, birth: 6)
    seen.removeAll(inPages: 2..<3)
    #expect(!seen.contains(unit: 131, birth: 6))
    #expect(seen.contains(unit: 200, birth: 6))
  }

  @Test func `a node without children is verified before it is copied into a transaction`() throws {
    for isForged in [false, true] {
      let file = try NodeFile(key: nil)
      let arena = NodeArena(refWidth: file.store.refWidth, capacity: 1 << 24)
      // The node has two values. In the forged node the second value ends before it begins.
      let ends: [UInt8] = isForged ? [2, 0, 5, 0, 3, 0] : [2, 0, 3, 0, 5, 0]
      let ref = try file.write(.piece, body: ends + [1, 2, 3, 4, 5], birth: 7)
      let editor = NodeEditor(store: file.store, arena: arena)
      try editor.begin(birth: 9, end: UInt64(file.nextPage * FilePlace.page))
      if isForged {
        #expect(throws: StorageError.self) { try editor.copy(ref, bornAfter: 6) }
      } else {
        let copy = try editor.copy(ref, bornAfter: 6)
        #expect(copy.isDirty)
      }
    }
  }
}
