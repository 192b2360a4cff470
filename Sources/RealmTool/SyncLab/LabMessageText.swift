import RealmInterchange
import RealmStorage
import RealmSync

/// Texts that describe messages.
enum LabMessageText {
  /// The size of a frame with its body before compression. The compressed size would differ from run to run.
  static func size(_ frame: [UInt8], hasBody: Bool) -> Int {
    guard hasBody else { return frame.count }
    var reader = ByteReader(frame)
    guard let number = reader.varint(), let length = reader.varint(), number != 0, length != 0,
      let count = Int(exactly: length)
    else { return frame.count }
    return count + 2
  }

  static func line(_ message: ClientMessage, _ frame: [UInt8]) -> String {
    var hasBody = false
    if case .upload = message { hasBody = true }
    return "\(message.labText) (\(Wording.count(size(frame, hasBody: hasBody), "byte")))"
  }

  static func line(_ message: ServerMessage, _ frame: [UInt8]) -> String {
    var hasBody = false
    if case .step = message { hasBody = true }
    return "\(message.labText) (\(Wording.count(size(frame, hasBody: hasBody), "byte")))"
  }

  /// The reason why a file is reset.
  static func cause(isInDoubt: Bool) -> String {
    isInDoubt
      ? "what it has can't be told apart from what the server has: a copy of the file was used, or the "
        + "server goes on from an older copy of its own"
      : "it is older than the history that the server keeps"
  }
}

extension ClientMessage {
  fileprivate var labText: String {
    switch self {
    case .hello: return "hello"
    case .start(let start):
      return "start at version \(start.version), \(Wording.count(start.pending.count, "changeset")) pending"
    case .querySet(let set):
      let texts = set.queries.map { $0.predicate.isEmpty ? $0.table : "\($0.table) WHERE \($0.predicate)" }
      return "query set \(set.number): \(texts.isEmpty ? "nothing" : texts.joined(separator: ", "))"
    case .upload(let upload): return "upload of changeset \(upload.sequence), upon version \(upload.base)"
    case .chunk: return "chunk of a value"
    case .mark: return "mark"
    case .retire(let replica): return "the file \(replica) is gone"
    case .skipped: return "unknown message"
    }
  }
}

extension ServerMessage {
  fileprivate var labText: String {
    switch self {
    case .welcome(let welcome):
      switch welcome.answer {
      case .registered(let registered): "welcome: the file is registered, at version \(registered.version)"
      case .known: "welcome: the file is known"
      case .reset(let reset):
        "welcome: the file is to be reset, since \(LabMessageText.cause(isInDoubt: reset.isInDoubt))"
      }
    case .step(let step):
      "step from version \(step.from) to \(step.to), \(Wording.count(step.objectCount, "object"))"
        + (step.isLast ? "" : ", more parts follow")
    case .querySetRefused(let number, _, let text): "query set \(number) is refused: \(text)"
    case .chunk: "chunk of a value"
    case .mark: "mark"
    case .retired(let replica): "the file \(replica) is given up"
    case .error(let error): "error \(error.code): \(error.text)"
    case .skipped: "unknown message"
    }
  }
}
