import RealmFuzzSupport
import RealmStorage
import RealmSync

/// The decoders of steps and uploads, whose bodies may be compressed. A changed byte of a compressed body mostly breaks
/// its stream. So bodies are also changed before they are put into frames.
enum BodyDecoders {
  static var all: [FuzzedDecoder] {
    [
      step("step", .plain), step("step-expanded", .stored), compressedStep, upload("upload", .plain),
      upload("upload-expanded", .stored), compressedUpload,
    ]
  }

  // MARK: - Steps

  private static func stepBodies() -> [[UInt8]] { MessageReading.steps().map(\.plainBytes) }

  private static func step(_ name: String, _ form: BodyForm) -> FuzzedDecoder {
    FuzzedDecoder(name) {
      FuzzedDecoder.Trial(
        samples: try MessageReading.short(stepBodies()) + NetworkCorpus.kept.samples(name),
        mutator: ByteMutator(.binary), memory: MessageReading.plainMemory
      ) { body, generator in
        try read(stepIn: form.frame(BodyForm.step, body), bodyCount: body.count, &generator)
      }
    }
  }

  private static var compressedStep: FuzzedDecoder {
    FuzzedDecoder("step-compressed", quick: 10_000) {
      let made = stepBodies().compactMap { BodyForm.compressed(BodyForm.step, $0) }
      return FuzzedDecoder.Trial(
        samples: try MessageReading.short(made) + NetworkCorpus.kept.samples("step-compressed"),
        mutator: ByteMutator(.binary), memory: MessageReading.expandedMemory
      ) { frame, generator in
        try read(stepIn: frame, bodyCount: MessageReading.bodyLimit, &generator)
      }
    }
  }

  /// Whether a frame is accepted.
  private static func read(
    stepIn frame: [UInt8], bodyCount: Int, _ generator: inout FuzzGenerator
  ) throws -> Bool {
    guard let message = try MessageReading.server(frame, &generator) else { return false }
    // The message number may have been changed, so this may be another message.
    guard case .step(let step) = message else { return true }
    let parts = step.own.count + step.schema.count + step.objects.map { count($0.change) }.reduce(0, +)
    guard parts <= bodyCount else {
      throw FuzzFailure("\(parts) parts are read from \(bodyCount) bytes")
    }
    try RoundTrip.check(step.plainBytes) { body in
      guard case .step(let again) = try ServerMessage(bytes: BodyForm.plain.frame(BodyForm.step, body)) else {
        throw FuzzFailure("a step is read as another message")
      }
      return again.plainBytes
    }
    return true
  }

  /// The number of parts of a change: the object itself and its instructions.
  private static func count(_ change: ObjectStep.Change) -> Int {
    switch change {
    case .whole(let instructions): return 1 + instructions.count
    case .left, .deleted: return 1
    case .effects(let all):
      var count = 1
      for case .others(_, let effects) in all { count += effects.count }
      return count
    }
  }

  // MARK: - Uploads

  private static func uploadBodies() -> [[UInt8]] {
    MessageReading.uploads().compactMap { upload -> [UInt8]? in
      let frame = PlainFrame.of(ClientMessage.upload(upload).bytes)
      // If a body is not compressed, a 0 stands after the message number.
      return frame.prefix(2) == [BodyForm.upload, 0] ? Array(frame.dropFirst(2)) : nil
    }
  }

  private static func upload(_ name: String, _ form: BodyForm) -> FuzzedDecoder {
    FuzzedDecoder(name) {
      FuzzedDecoder.Trial(
        samples: try MessageReading.short(uploadBodies()) + NetworkCorpus.kept.samples(name),
        mutator: ByteMutator(.binary), memory: MessageReading.plainMemory
      ) { body, generator in
        try read(uploadIn: form.frame(BodyForm.upload, body), bodyCount: body.count, &generator)
      }
    }
  }

  private static var compressedUpload: FuzzedDecoder {
    FuzzedDecoder("upload-compressed", quick: 10_000) {
      let made = uploadBodies().compactMap { BodyForm.compressed(BodyForm.upload, $0) }
      return FuzzedDecoder.Trial(
        samples: try MessageReading.short(made) + NetworkCorpus.kept.samples("upload-compressed"),
        mutator: ByteMutator(.binary), memory: MessageReading.expandedMemory
      ) { frame, generator in
        try read(uploadIn: frame, bodyCount: MessageReading.bodyLimit, &generator)
      }
    }
  }

  /// Whether a frame is accepted.
  private static func read(
    uploadIn frame: [UInt8], bodyCount: Int, _ generator: inout FuzzGenerator
  ) throws -> Bool {
    guard let message = try MessageReading.client(frame, &generator) else { return false }
    guard case .upload(let upload) = message else { return true }
    let changeset = upload.changeset
    let parts = changeset.schema.count + changeset.objects.map { 1 + $0.instructions.count }.reduce(0, +)
    guard parts <= bodyCount, upload.replicas.first == 0 else {
      throw FuzzFailure("\(parts) parts are read from \(bodyCount) bytes, or no replica")
    }
    try RoundTrip.check(message.bytes) { try ClientMessage(bytes: $0).bytes }
    if generator.chance(10), upload.hash.count != MessageLimit.hashBytes {
      throw FuzzFailure("the hash of an upload is none")
    }
    return true
  }
}
