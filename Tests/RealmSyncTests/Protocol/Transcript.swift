import Foundation
import RealmStorage
import RealmSync

/// Messages of every kind, as Golden/transcript.txt holds them: the bytes that a side sends, beside their meaning.
/// Fields are in the order of their bytes. All bodies are too short to be compressed, because two compressors may make
/// different bytes of the same body.
///
/// `REALM_WRITE_GOLDEN=1 swift test --filter MessageCodingTests` writes the file again.
enum Transcript {
  enum Message: Equatable {
    case client(ClientMessage)
    case server(ServerMessage)

    var side: String {
      switch self {
      case .client: "client"
      case .server: "server"
      }
    }

    var bytes: [UInt8] {
      switch self {
      case .client(let message): message.bytes
      case .server(let message): message.bytes
      }
    }
  }

  struct Line {
    var message: Message
    var description: String

    init(_ message: Message, _ description: String) {
      (self.message, self.description) = (message, description)
    }

    var text: String {
      "\(message.side) \(message.bytes.map { String(format: "%02x", $0) }.joined()) \(description)"
    }
  }

  static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Golden/transcript.txt")

  static let lines = beginning + requests + steps + otherAnswers

  // MARK: - Parts

  private static let tag: UInt64 = 0x0123_4567_89ab_cdef
  private static let replica: UInt64 = 7_000_000_007
  static let value = Array("hello".utf8)

  private static func stamp(_ milliseconds: UInt64, _ counter: UInt64) -> Stamp {
    Stamp(word: milliseconds << 16 | counter)
  }

  private static func dog(_ key: Int64) -> ObjectName { ObjectName("Dog", .int(key)) }
  private static func id(_ replica: UInt32, _ counter: UInt32) -> ElementID {
    ElementID(replica: replica, counter: counter)
  }

  private static let limits = Welcome.Limits(
    changesetBytes: 1 << 20, valueBytes: 15 << 20, querySets: 100, bytesUnderWay: 1 << 20, firstWait: 1_000,
    longestWait: 300_000)

  private static let registered = Welcome.Registered(
    replica: replica, version: 12, tag: tag, mark: stamp(1_767_225_600_000, 3), sessionNumber: 1)

  static let upload: UploadMessage = {
    var changeset = Changeset()
    let (name, portrait) = (InstructionPath("name"), InstructionPath("portrait"))
    let (tags, owner) = (InstructionPath("tags"), InstructionPath("owner"))
    changeset.objects = [
      ObjectInstructions(
        dog(1),
        [
          .create, .set(name, .value(.string("Rex")), isDefault: false),
          .set(portrait, .chunked(hash: value.contentHash, length: 5, isText: true), isDefault: false),
          .insert(tags, id(1, 1), left: .none, right: .none, .value(.string("a"))),
          .insert(tags, id(1, 2), left: id(1, 1), right: .none, .value(.string("b"))),
        ]),
      ObjectInstructions(
        dog(5),
        [
          .set(owner, .link(ObjectName("Person", .string("Ada"))), isDefault: true),
          .add(InstructionPath("age"), -1),
        ]),
    ]
    return UploadMessage(
      sequence: 1, previous: [], base: 12, stamp: stamp(1_767_225_600_500, 0), querySet: 1,
      isAllOrNothing: true, replicas: [0, replica], changeset: changeset)
  }()

  // MARK: - Messages

  private static let beginning = [
    Line(
      .client(
        .hello(Hello(versions: 1...2, capabilities: ["example"], partition: .string("north")))),
      """
      {"hello": {"oldest": 1, "newest": 2, "capabilities": ["example"], "replica": null, "partition": \
      {"string": "north"}}}
      """),
    Line(
      .server(
        .welcome(
          Welcome(version: 1, answer: .registered(registered), limits: limits, time: 1_767_225_600_123))),
      """
      {"welcome": {"version": 1, "capabilities": [], "time": 1767225600123, "limits": [1048576, 15728640, \
      100, 1048576, 1000, 300000], "answer": {"registered": {"replica": 7000000007, "version": 12, "tag": \
      81985529216486895, "mark": [1767225600000, 3], "session": 1}}}}
      """),
    Line(
      .client(.hello(Hello(versions: 1...1, replica: replica))),
      """
      {"hello": {"oldest": 1, "newest": 1, "capabilities": [], "replica": 7000000007, "partition": null}}
      """),
    Line(
      .server(
        .welcome(
          Welcome(
            version: 1, capabilities: ["example"], answer: .known(sessionNumber: 2), limits: limits,
            time: 1_767_225_700_000))),
      """
      {"welcome": {"version": 1, "capabilities": ["example"], "time": 1767225700000, "limits": [1048576, \
      15728640, 100, 1048576, 1000, 300000], "answer": {"known": {"session": 2}}}}
      """),
    Line(
      .server(
        .welcome(
          Welcome(
            version: 1,
            answer: .reset(
              Welcome.Reset(
                registered: registered, integrated: [NamedChangeset(sequence: 1, hash: upload.hash)],
                refusals: [Refusal(subject: .object(dog(5)), reason: .notPermitted)], isInDoubt: true)),
            limits: limits, time: 1_767_225_700_000))),
      """
      {"welcome": {"version": 1, "capabilities": [], "time": 1767225700000, "limits": [1048576, 15728640, \
      100, 1048576, 1000, 300000], "answer": {"reset": {"replica": 7000000007, "version": 12, "tag": \
      81985529216486895, "mark": [1767225600000, 3], "session": 1, "integrated": [[1, \
      "9bcf799680c724464320cc06a75242a88a62f2461e12990ddc33dcaeb7983ab7"]], "refusals": [{"object": ["Dog", \
      {"int": 5}], "reason": 3}], "doubt": true}}}}
      """),
  ]

  private static let requests = [
    Line(
      .client(
        .start(
          SessionStart(
            version: 12, tag: tag, sessionNumber: 1, querySet: 0, wanted: 1,
            last: NamedChangeset(sequence: 1, hash: upload.hash),
            pending: [NamedChangeset(sequence: 1, hash: upload.hash)], leastBase: 12))),
      """
      {"start": {"version": 12, "tag": 81985529216486895, "session": 1, "querySet": 0, "wanted": 1, "last": \
      [1, "9bcf799680c724464320cc06a75242a88a62f2461e12990ddc33dcaeb7983ab7"], "pending": [[1, \
      "9bcf799680c724464320cc06a75242a88a62f2461e12990ddc33dcaeb7983ab7"]], "leastBase": 12}}
      """),
    Line(
      .client(
        .querySet(
          QuerySet(
            number: 1,
            queries: [.init(table: "Dog", predicate: "age > 3"), .init(table: "Person", predicate: "")]))),
      """
      {"querySet": {"number": 1, "queries": [["Dog", "age > 3"], ["Person", ""]]}}
      """),
    Line(
      .client(.chunk(ValueChunk(hash: value.contentHash, offset: 0, length: 5, bytes: value))),
      """
      {"chunk": {"hash": "324dcf027dd4a30a932c441f365a25e86b173defa4b8e58948253471b81b72cf", "offset": 0, \
      "length": 5, "bytes": "68656c6c6f"}}
      """),
    Line(
      .client(.upload(upload)),
      """
      {"upload": {"sequence": 1, "previous": "", "base": 12, "stamp": [1767225600500, 0], "querySet": 1, \
      "allOrNothing": true, "replicas": [0, 7000000007], "changeset": {"schema": [], "objects": [["Dog", \
      {"int": 1}, [["create"], ["set", "name", {"string": "Rex"}], ["set", "portrait", {"longText": \
      ["324dcf027dd4a30a932c441f365a25e86b173defa4b8e58948253471b81b72cf", 5]}], ["insert", "tags", [1, 1], \
      [0, 0], [0, 0], {"string": "a"}], ["insert", "tags", [1, 2], [1, 1], [0, 0], {"string": "b"}]]], \
      ["Dog", {"int": 5}, [["setDefault", "owner", {"link": ["Person", {"string": "Ada"}]}], ["add", "age", \
      -1]]]]}}}
      """),
    Line(.client(.mark(request: 7)), #"{"mark": {"request": 7}}"#),
    Line(.client(.retire(replica: replica)), #"{"retire": {"replica": 7000000007}}"#),
    Line(.client(.skipped(number: 41)), #"{"skipped": {"number": 41}}"#),
  ]

  private static let steps = [
    Line(
      .server(
        .step(
          {
            var step = Step(
              from: 12, to: 15, tag: tag, querySet: 1, partition: .string("north"),
              mark: stamp(1_767_225_600_600, 0), lastSequence: 1)
            step.isLast = false
            (step.remainingObjects, step.remainingBytes) = (5, 400)
            step.schema = [
              .addTable("Person", key: PropertyDefinition("name", .string)),
              .addProperty(
                table: "Dog", PropertyDefinition("owner", .link, target: "Person", isOptional: true)),
            ]
            step.objects = [
              ObjectStep(
                ObjectName("Person", .string("Ada")),
                .whole([.create, .set(InstructionPath("name"), .value(.string("Ada")), isDefault: false)]))
            ]
            return step
          }())),
      """
      {"step": {"from": 12, "to": 15, "tag": 81985529216486895, "querySet": 1, "mark": [1767225600600, 0], \
      "lastSequence": 1, "isLast": false, "partition": {"string": "north"}, "remaining": [5, 400], "own": \
      [], "replicas": [0], "schema": [["addTable", "Person", {"name": "name", "type": 8, "collection": 0, \
      "optional": false, "target": null}], ["addProperty", "Dog", {"name": "owner", "type": 14, \
      "collection": 0, "optional": true, "target": "Person"}]], "objects": [{"name": ["Person", {"string": \
      "Ada"}], "whole": [["create"], ["set", "name", {"string": "Ada"}]]}]}}
      """),
    Line(
      .server(
        .step(
          {
            var step = Step(
              from: 12, to: 15, tag: tag, querySet: 1, partition: .string("north"),
              mark: stamp(1_767_225_600_600, 0), lastSequence: 1)
            step.own = [
              OwnChangeset(
                sequence: 1, version: 14, stamp: stamp(1_767_225_600_500, 0), hash: upload.hash,
                refusals: [
                  Refusal(subject: .object(dog(5)), reason: .keyInUse),
                  Refusal(subject: .property(table: "Dog", "age"), reason: .schemaMismatch),
                ])
            ]
            step.replicas = [0, replica, 9]
            let other = DecidedBy(version: 15, stamp: stamp(1_767_225_600_600, 0), replica: 2)
            let tags = InstructionPath("tags")
            let moved = ElementOrder(
              dead: id(1, 9), parent: id(2, 8), isLeftOfParent: true, left: id(2, 2), isLost: true)
            step.objects = [
              ObjectStep(
                dog(1),
                .effects([
                  .own(sequence: 1),
                  .others(
                    other,
                    [
                      Effect(
                        .insert(tags, id(2, 3), left: id(1, 2), right: .none, .value(.string("c"))),
                        order: ElementOrder(
                          dead: .none, parent: id(1, 2), isLeftOfParent: false, left: id(1, 2))),
                      Effect(
                        .move(tags, id(1, 1), id: id(2, 4), left: id(2, 3), right: .none), order: moved),
                      Effect(.erase(tags, id(1, 2))),
                    ]),
                ])),
              ObjectStep(dog(3), .left), ObjectStep(dog(4), .deleted(other)),
            ]
            return step
          }())),
      """
      {"step": {"from": 12, "to": 15, "tag": 81985529216486895, "querySet": 1, "mark": [1767225600600, 0], \
      "lastSequence": 1, "isLast": true, "partition": {"string": "north"}, "remaining": [0, 0], "own": \
      [{"sequence": 1, "version": 14, "stamp": [1767225600500, 0], "hash": \
      "9bcf799680c724464320cc06a75242a88a62f2461e12990ddc33dcaeb7983ab7", "refusals": [{"object": ["Dog", \
      {"int": 5}], "reason": 1}, {"property": ["Dog", "age"], "reason": 4}]}], "replicas": [0, 7000000007, \
      9], "schema": [], "objects": [{"name": ["Dog", {"int": 1}], "effects": [{"own": 1}, {"by": [15, \
      [1767225600600, 0], 2], "effects": [[["insert", "tags", [2, 3], [1, 2], [0, 0], {"string": "c"}], \
      "default"], [["move", "tags", [1, 1], [2, 4], [2, 3], [0, 0]], {"dead": [1, 9], "parent": [2, 8], \
      "left": [2, 2], "isLeftOfParent": true, "isLost": true}], [["erase", "tags", [1, 2]], null]]}]}, \
      {"name": ["Dog", {"int": 3}], "left": true}, {"name": ["Dog", {"int": 4}], "deleted": [15, \
      [1767225600600, 0], 2]}]}}
      """),
  ]

  private static let otherAnswers = [
    Line(
      .server(.querySetRefused(number: 2, code: 202, text: "There is no class 'Cat'.")),
      """
      {"querySetRefused": {"number": 2, "code": 202, "text": "There is no class 'Cat'."}}
      """),
    Line(
      .server(.chunk(ValueChunk(hash: value.contentHash, offset: 3, length: 5, bytes: [0x6c, 0x6f]))),
      """
      {"chunk": {"hash": "324dcf027dd4a30a932c441f365a25e86b173defa4b8e58948253471b81b72cf", "offset": 3, \
      "length": 5, "bytes": "6c6f"}}
      """),
    Line(
      .server(.mark(request: 7, version: 15)), #"{"markAnswer": {"request": 7, "version": 15}}"#),
    Line(.server(.retired(replica: replica)), #"{"retired": {"replica": 7000000007}}"#),
    Line(
      .server(
        .error(ProtocolError(code: 9, text: "Too busy.", action: .tryLater, wait: 2_000))),
      """
      {"error": {"code": 9, "text": "Too busy.", "action": 1, "wait": 2000}}
      """),
    Line(.server(.skipped(number: 41)), #"{"skipped": {"number": 41}}"#),
  ]
}
