import Foundation
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

@Suite struct MessageCodingTests {
  /// A side that sends frames. Its functions read frames and write them again.
  private enum Side: CaseIterable {
    case client, server

    func frame(_ maker: inout MessageMaker) -> [UInt8] {
      switch self {
      case .client: maker.clientMessage().bytes
      case .server: maker.serverMessage().bytes
      }
    }

    func read(_ bytes: [UInt8]) throws(MessageDamage) -> Transcript.Message {
      switch self {
      case .client: .client(try ClientMessage(bytes: bytes))
      case .server: .server(try ServerMessage(bytes: bytes))
      }
    }
  }

  /// The frame with its body uncompressed, if the body is compressed.
  private func expanded(_ frame: [UInt8]) throws -> [UInt8] {
    guard frame.first == 12 || frame.first == 14 else { return frame }
    var reader = ByteReader(Array(frame.dropFirst()))
    let length = reader.varint() ?? 0
    let rest = Array(reader.bytes(reader.count) ?? [])
    let body = length == 0 ? rest : try #require(Deflate.expanded(rest, count: Int(length)))
    return [frame[0], 0] + body
  }

  private func fault(_ bytes: [UInt8], _ side: Side) -> MessageDamage? {
    do throws(MessageDamage) {
      _ = try side.read(bytes)
      return nil
    } catch {
      return error
    }
  }

  private func side(of line: Transcript.Line) -> Side {
    switch line.message {
    case .client: .client
    case .server: .server
    }
  }

  /// An upload whose body is long enough to be compressed.
  private var longUpload: UploadMessage {
    var upload = Transcript.upload
    upload.changeset.objects = (0..<100).map { ObjectInstructions(ObjectName("Dog", .int($0)), [.create]) }
    return upload
  }

  // MARK: - Reading what was written

  @Test(arguments: Slow.seeds(300, slow: 30_000))
  func `every message of a client reads back as itself`(seed: UInt64) throws {
    var maker = MessageMaker(seed: seed)
    let message = maker.clientMessage()
    #expect(try ClientMessage(bytes: message.bytes) == message, "seed \(seed)")
  }

  @Test(arguments: Slow.seeds(300, slow: 30_000))
  func `every message of a server reads back as itself`(seed: UInt64) throws {
    var maker = MessageMaker(seed: seed)
    let message = maker.serverMessage()
    #expect(try ServerMessage(bytes: message.bytes) == message, "seed \(seed)")
  }

  @Test func `a body of more than 256 bytes is compressed if that makes it smaller`() throws {
    var upload = Transcript.upload
    #expect(ClientMessage.upload(upload).bytes[1] == 0)
    upload = longUpload
    let bytes = ClientMessage.upload(upload).bytes
    #expect(try bytes[1] != 0 && bytes.count < expanded(bytes).count * 3 / 4)
    #expect(try ClientMessage(bytes: bytes) == .upload(upload))
    #expect(try ClientMessage(bytes: expanded(bytes)) == .upload(upload))
    var random = SeededGenerator(seed: 1)
    let noise = ObjectName("Dog", .string(""))
    upload.changeset.objects = [
      ObjectInstructions(
        noise, [.set(InstructionPath("data"), .value(.data(random.bytes(2_000))), isDefault: false)])
    ]
    #expect(ClientMessage.upload(upload).bytes[1] == 0)
    #expect(try ClientMessage(bytes: ClientMessage.upload(upload).bytes) == .upload(upload))
  }

  /// The body was compressed by another program at another level. This library would not compress it.
  @Test func `a body that another program has compressed is read`() throws {
    let text = """
      0c930178da6364e06160f8b2f256d96c4646462686f69e779d5275eccc2ef9e92c7989b9a91c05f94525458999252c25\
      89e9c5acf9e579a9456c01a945c5f979cc89e9a9020cac4c8ccc8c0c1ccc41a915cc4c0cca46bee7996aaf2ce69aace3\
      226f16a5fa225bdcf6fd921d4f3b3d544d0a7748179d67e564666064640002260ec6440ec624a0095c2c2c0c8aac1ccc\
      8e2989ac6c0c8c0c008dc02610
      """
    let digits = Array(text)
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
    #expect(try ClientMessage(bytes: bytes) == .upload(Transcript.upload))
  }

  @Test func `the order of an element that hangs on the right of its left neighbour takes one byte`() {
    func step(_ isDefault: Bool) -> ServerMessage {
      var step = Step(
        from: 1, to: 2, tag: 3, querySet: 1, partition: nil, mark: Stamp(word: 0), lastSequence: 0)
      let (left, other) = (ElementID(replica: 0, counter: 5), ElementID(replica: 0, counter: 6))
      let order = ElementOrder(
        dead: .none, parent: isDefault ? left : other, isLeftOfParent: false, left: left)
      let insert = Instruction.insert(
        InstructionPath("a"), ElementID(replica: 0, counter: 9), left: left, right: .none, .absent)
      let decider = DecidedBy(version: 2, stamp: Stamp(word: 0), replica: 0)
      step.objects = [
        ObjectStep(ObjectName("T", .int(1)), .effects([.others(decider, [Effect(insert, order: order)])]))
      ]
      return .step(step)
    }
    #expect(step(true).bytes.last == 0)
    #expect(step(false).bytes.count == step(true).bytes.count + 2)
  }

  @Test func `the hash of an upload covers all fields except those that a registration writes later`() {
    let upload = Transcript.upload
    let hash = upload.hash
    #expect(hash.count == 32)
    var base = upload
    base.base += 1
    #expect(base.hash == hash)
    let changes: [(inout UploadMessage) -> Void] = [
      { $0.sequence += 1 }, { $0.previous = hash }, { $0.stamp = $0.stamp.next }, { $0.querySet += 1 },
      { $0.isAllOrNothing.toggle() },
      { $0.replicas[1] += 1 }, { $0.changeset.objects.removeLast() },
    ]
    for change in changes {
      var other = upload
      change(&other)
      #expect(other.hash != hash)
    }
  }

  // MARK: - Damage

  /// Reads a frame that is cut off at every byte.
  private func cut(_ frame: [UInt8], _ side: Side, _ name: String) throws {
    for end in 0..<frame.count {
      guard let read = try? side.read(Array(frame[..<end])) else { continue }
      #expect(try side.read(read.bytes) == read, "\(name), \(end) bytes")
    }
  }

  @Test(arguments: Slow.seeds(12, slow: 1_000))
  func `a frame that is cut off anywhere is refused, or is another message`(seed: UInt64) throws {
    var maker = MessageMaker(seed: seed)
    for side in Side.allCases {
      let frame = side.frame(&maker)
      try cut(frame, side, "seed \(seed)")
      try cut(expanded(frame), side, "seed \(seed)")
    }
  }

  @Test func `a message of the transcript that is cut off anywhere is refused`() {
    for line in Transcript.lines {
      let frame = line.message.bytes
      for end in 0..<frame.count {
        #expect(fault(Array(frame[..<end]), side(of: line)) != nil, "\(line.text), \(end) bytes")
      }
    }
  }

  /// The tests read 20,000 damaged frames in all: frames as they are sent, and frames whose body is not compressed.
  @Test(arguments: Slow.seeds(100, slow: 5_000))
  func `a damaged frame is refused by name, or is another message`(seed: UInt64) throws {
    var maker = MessageMaker(seed: seed)
    for side in Side.allCases {
      var refused = 0
      for number in 0..<25 {
        let sent = side.frame(&maker)
        let plain = try expanded(sent)
        for frame in [sent, plain, plain, plain] {
          let damaged = maker.damaged(frame)
          if let fault = fault(damaged, side) {
            refused += 1
            #expect(fault.description.hasPrefix("A message "), "seed \(seed), message \(number)")
          } else {
            let read = try side.read(damaged)
            #expect(try side.read(read.bytes) == read, "seed \(seed), message \(number)")
          }
        }
      }
      #expect(refused > 10, "seed \(seed)")
    }
  }

  @Test(arguments: Slow.seeds(200, slow: 20_000))
  func `random bytes do not crash a reader`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for number in [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 23, 25] as [UInt8] {
      let frame = [number] + (random.chance(50) ? [0] : []) + random.bytes(random.below(200))
      for side in Side.allCases {
        guard let read = try? side.read(frame) else { continue }
        #expect(try side.read(read.bytes) == read, "seed \(seed), message \(number)")
      }
    }
  }

  // MARK: - Later versions

  @Test func `an unknown message is skipped if its number is odd, and is refused if it is even`() throws {
    var frame: [UInt8] = []
    frame.appendVarint(1_001)
    frame += [1, 2, 3]
    #expect(try ClientMessage(bytes: frame) == .skipped(number: 1_001))
    #expect(try ServerMessage(bytes: frame) == .skipped(number: 1_001))
    frame = []
    frame.appendVarint(1_000)
    for side in Side.allCases {
      let damage = try #require(fault(frame, side))
      #expect(damage.reason == .unknownMessage(number: 1_000) && damage.offset == 0)
      #expect(damage.description.contains("1000"))
    }
    // A reader refuses messages of its own side.
    #expect(throws: MessageDamage.self) { try ServerMessage(bytes: ClientMessage.mark(request: 1).bytes) }
    let answer = ServerMessage.mark(request: 1, version: 2)
    #expect(throws: MessageDamage.self) { try ClientMessage(bytes: answer.bytes) }
  }

  @Test(arguments: Transcript.lines.indices)
  func `optional fields with unknown numbers are skipped`(number: Int) throws {
    let line = Transcript.lines[number]
    let side = side(of: line)
    let bytes = line.message.bytes
    // The rest of a message that is skipped is not read.
    guard bytes[0] & 1 == 0 else { return }
    #expect(try side.read(bytes + [61, 3, 9, 9, 9, 65, 0]) == line.message)
    #expect(fault(bytes + [61, 3, 9, 9], side)?.reason == .endsEarly)
    #expect(fault(bytes + [61], side)?.reason == .endsEarly)
    #expect(fault(bytes + [62, 0, 62, 0], side)?.reason == .disagrees)
    #expect(fault(bytes + [0, 0], side)?.reason == .disagrees)
  }

  @Test func `optional fields of a compressed body are skipped`() throws {
    let message = ClientMessage.upload(longUpload)
    let body = Array(try expanded(message.bytes).dropFirst(2)) + [7, 2, 0, 0]
    let compressed = try #require(Deflate.compressed(body))
    #expect(try ClientMessage(bytes: [12] + varint(UInt64(body.count)) + compressed) == message)
  }

  // MARK: - Limits

  private func varint(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVarint(number)
    return bytes
  }

  /// The frame of a chunk with this number of bytes.
  private func chunk(_ count: Int) -> [UInt8] {
    let (hash, bytes) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 7, count: count))
    let chunk = ValueChunk(hash: hash, offset: 0, length: UInt64(count), bytes: bytes)
    return ClientMessage.chunk(chunk).bytes
  }

  @Test func `a frame has at most 24 MiB`() throws {
    let rest = MessageLimit.frameBytes - chunk(MessageLimit.frameBytes - 100).count
    let frame = chunk(MessageLimit.frameBytes - 100 + rest)
    #expect(frame.count == MessageLimit.frameBytes)
    #expect(throws: Never.self) { try ClientMessage(bytes: frame) }
    let limit = UInt64(MessageLimit.frameBytes)
    let damage = MessageDamage(field: "frame", offset: 0, .tooLarge(found: limit + 1, limit: limit))
    #expect(throws: damage) { try ClientMessage(bytes: frame + [0]) }
    #expect(throws: damage) { try ServerMessage(bytes: frame + [0]) }
  }

  @Test func `a message names at most 65,536 replicas, and the first is 0`() throws {
    var upload = Transcript.upload
    upload.replicas = [0] + (1..<65_536)
    #expect(try ClientMessage(bytes: ClientMessage.upload(upload).bytes) == .upload(upload))
    upload.replicas.append(65_536)
    let frame = try expanded(ClientMessage.upload(upload).bytes)
    let damage = try #require(fault(frame, .client))
    #expect(damage.field == "replicas")
    #expect(damage.reason == .tooLarge(found: 65_537, limit: 65_536))
    // The fields before the replicas are the number, the length of the body, the sequence, the hash, the base, the
    // stamp, the query set and the flags.
    #expect(damage.offset == 1 + 1 + 1 + 1 + 1 + 8 + 1 + 1)
    #expect(damage.description.contains("65536"))
    for replicas in [[], [5, 0]] as [[UInt64]] {
      upload.replicas = replicas
      let bytes = ClientMessage.upload(upload).bytes
      #expect(fault(bytes, .client)?.reason == .firstReplica)
    }
  }

  @Test func `counts and lengths that exceed the bytes that are left take no memory`() throws {
    let most = varint(.max)
    let frames: [([UInt8], Side)] = [
      ([2, 1, 1] + most, .client),  // capabilities
      ([2, 1, 1, 1] + most, .client),  // a text
      ([6, 0, 0, 0, 0, 0, 0] + most, .client),  // pending changesets
      ([8, 1] + most, .client),  // queries
      ([12, 0, 1] + most, .client),  // the hash
      ([10, 1, 1] + most, .server),  // a text
      ([14] + [UInt8](repeating: 0, count: 14) + [1, 0, 0] + most, .server),  // own changesets
    ]
    for (frame, side) in frames {
      #expect(fault(frame, side)?.reason == .endsEarly, "\(frame)")
      #expect(fault(frame, side)?.offset == frame.count - most.count, "\(frame)")
    }
  }

  @Test func `texts that are not UTF-8, hashes of another length and numbers that are too large are refused`()
  {
    #expect(fault([2, 1, 1, 1, 2, 0xc3, 0x28], .client)?.reason == .notUTF8)
    for count in [0, 31, 33] {
      var chunk = ValueChunk(hash: [], offset: 0, length: 0, bytes: [])
      chunk.hash = [UInt8](repeating: 1, count: count)
      #expect(fault(ClientMessage.chunk(chunk).bytes, .client)?.reason == .hashLength(count))
      var upload = Transcript.upload
      upload.previous = chunk.hash
      let reason = fault(ClientMessage.upload(upload).bytes, .client)?.reason
      #expect(reason == (count == 0 ? nil : .hashLength(count)))
    }
    let tooLarge = MessageDamage.Reason.tooLarge(found: 1 << 32, limit: UInt64(UInt32.max))
    #expect(fault([2] + varint(1 << 32), .client)?.reason == tooLarge)
    #expect(fault([18] + [UInt8](repeating: 0xff, count: 9) + [2], .client)?.reason == .noNumber)
    #expect(fault([18] + [UInt8](repeating: 0xff, count: 9), .client)?.reason == .endsEarly)
    #expect(fault([], .client)?.reason == .endsEarly)
  }

  @Test func `fields that contradict each other are refused`() {
    // The oldest version is greater than the newest one.
    #expect(fault([2, 3, 2, 0, 0, 0], .client)?.reason == .disagrees)
    let hash = [UInt8](repeating: 1, count: 32)
    for chunk in [
      ValueChunk(hash: hash, offset: 5, length: 4, bytes: []),
      ValueChunk(hash: hash, offset: 3, length: 4, bytes: [1, 2]),
      ValueChunk(hash: hash, offset: .max, length: .max, bytes: [1]),
    ] {
      #expect(fault(ClientMessage.chunk(chunk).bytes, .client)?.reason == .disagrees)
    }
    for partition in [.list([]), .map(ValueMap()), .typedLink(table: 1, row: 1), .link(1)] as [Value] {
      let frame = ClientMessage.hello(Hello(versions: 1...1, partition: partition)).bytes
      #expect(fault(frame, .client)?.reason == .noValue)
    }
    #expect(fault([22, 1, 0, 6, 0], .server)?.reason == .unknownKind(6))
    // The error of a changeset that ends too early gives the place where it ends.
    #expect(
      fault([12, 0, 1, 0, 1] + [UInt8](repeating: 0, count: 8) + [1, 0, 1, 0, 1, 0x30], .client)?
        .description.contains("A changeset is damaged") == true)
  }

  @Test func `a step whose objects and table of changes do not agree is refused`() throws {
    var step = Step(
      from: 1, to: 2, tag: 3, querySet: 1, partition: nil, mark: Stamp(word: 0), lastSequence: 0)
    let decider = DecidedBy(version: 2, stamp: Stamp(word: 0), replica: 0)
    let object = ObjectStep(
      ObjectName("T", .int(1)), .effects([.others(decider, [Effect(.create), Effect(.delete)])]))
    step.objects = [object]
    let bytes = ServerMessage.step(step).bytes
    #expect(Array(bytes.suffix(4)) == [0, 1, 1, 2])
    func reason(_ end: [UInt8]) -> MessageDamage.Reason? {
      fault(Array(bytes.dropLast(4)) + end, .server)?.reason
    }
    #expect(reason([0, 1, 1, 1]) == .disagrees)
    #expect(reason([0, 1, 1, 3]) == .tooLarge(found: 3, limit: 2))
    #expect(reason([0, 1, 2, 2]) == .tooLarge(found: 2, limit: 1))
    #expect(reason([0, 0]) == .disagrees)
    #expect(reason([1]) == nil)
    #expect(reason([2]) == .disagrees)
    #expect(reason([3, 1]) == .disagrees)
    #expect(reason([4]) == .unknownKind(4))
    #expect(reason([]) == .endsEarly)
    // An object that is there twice counts once in the changeset, and twice in the table.
    step.objects = [object, object]
    #expect(throws: MessageDamage.self) { try ServerMessage(bytes: ServerMessage.step(step).bytes) }
    // The replica of a deciding changeset is not among the replicas of the step.
    let unknown = DecidedBy(version: 2, stamp: Stamp(word: 0), replica: 1)
    step.objects = [ObjectStep(ObjectName("T", .int(1)), .deleted(unknown))]
    #expect(fault(ServerMessage.step(step).bytes, .server)?.reason == .disagrees)
  }

  @Test func `a body that would expand to more than the limit or its stated length is refused`() throws {
    let limit = MessageLimit.bodyBytes
    let bomb = try #require(Deflate.compressed([UInt8](repeating: 0, count: limit + 1)))
    #expect(bomb.count < limit / 100)
    for (number, side) in [(12, .client), (14, .server)] as [(UInt8, Side)] {
      let tooLarge = MessageDamage.Reason.tooLarge(found: UInt64(limit + 1), limit: UInt64(limit))
      #expect(fault([number] + varint(UInt64(limit + 1)) + bomb, side)?.reason == tooLarge)
      let endless = MessageDamage.Reason.tooLarge(found: .max, limit: UInt64(limit))
      #expect(fault([number] + varint(.max) + bomb, side)?.reason == endless)
      for told in [1, 1_000, limit] {
        #expect(fault([number] + varint(UInt64(told)) + bomb, side)?.reason == .notCompressed)
      }
      // A stream this short can't hold so many bytes, so it is not expanded.
      #expect(fault([number] + varint(UInt64(limit)) + [1, 2, 3], side)?.reason == .notCompressed)
      #expect(fault([number, 1], side)?.reason == .notCompressed)
    }
  }

  @Test func `a receiver may allow less than the protocol does`() throws {
    let upload = ClientMessage.upload(longUpload)
    let plain = try expanded(upload.bytes)
    let count = plain.count - 2
    for frame in [upload.bytes, plain] {
      #expect(try ClientMessage(bytes: frame, bodyLimit: count) == upload)
      for limit in [count - 1, 0, -1] {
        #expect(throws: MessageDamage.self) { try ClientMessage(bytes: frame, bodyLimit: limit) }
      }
    }
  }

  // MARK: - The transcript

  @Test func `the transcript is reproduced byte for byte`() throws {
    let text = Transcript.lines.map { $0.text + "\n" }.joined()
    if ProcessInfo.processInfo.environment["REALM_WRITE_GOLDEN"] != nil {
      try Data(text.utf8).write(to: Transcript.file)
    }
    #expect(try Data(contentsOf: Transcript.file) == Data(text.utf8))
  }

  @Test(arguments: Transcript.lines.indices)
  func `each line of the transcript is read as its message`(number: Int) throws {
    let line = Transcript.lines[number]
    let side = side(of: line)
    let text = try String(contentsOf: Transcript.file, encoding: .utf8)
    let fields = text.split(separator: "\n")[number].split(separator: " ", maxSplits: 2)
    var bytes: [UInt8] = []
    var rest = fields[1]
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    #expect(try side.read(bytes) == line.message)
    #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(fields[2].utf8)) }
  }

  @Test func `an upload with more instructions than are allowed is refused before it takes their memory`()
    throws
  {
    var changeset = Changeset()
    changeset.objects = [ObjectInstructions(ObjectName("A", .int(1)), [])]
    let bytes = changeset.bytes
    // Each added item takes one byte, and the last byte of the changeset is its end.
    func many(_ count: Int) -> [UInt8] {
      bytes.dropLast() + [UInt8](repeating: 1, count: count) + bytes.suffix(1)
    }
    changeset.objects[0].instructions = [.create]
    #expect(changeset.bytes == many(1))
    #expect(try Changeset(bytes: many(9), mostInstructions: 10).objects[0].instructions.count == 9)
    let damage = #expect(throws: ChangesetDamage.self) {
      try Changeset(bytes: many(10), mostInstructions: 10)
    }
    #expect(damage?.part == .count)
  }
}
