/// The facts of a step besides its objects.
struct StepMessage: Sendable {
  /// The decision about a changeset of the file.
  struct Own: Sendable {
    let sequence: UInt64
    /// The stamp, in milliseconds since 1970.
    let time: UInt64
    let hash: [UInt8]
    /// The reasons for which parts of the changeset were refused.
    let reasons: [UInt8]
  }

  let own: [Own]

  /// Reads a step; nil if its body is compressed.
  init?(_ message: ChannelMessage) throws {
    var reader = try message.fields(Frames.stepNumber)
    let length = try reader.number()
    guard length == 0 else { return nil }
    // These fields are the versions, the tag, the query set, the mark, and the last sequence.
    for _ in 0..<4 { _ = try reader.number() }
    _ = try reader.bytes(8)
    _ = try reader.number()
    // A step of a file without a partition has no flag except that of the last part.
    guard try reader.byte() < 2 else { throw OtherMessage(number: Frames.stepNumber) }
    for _ in 0..<2 { _ = try reader.number() }
    var own: [Own] = []
    for _ in 0..<(try reader.number()) { own.append(try Self.own(&reader)) }
    self.own = own
  }

  private static func own(_ reader: inout FieldReader) throws -> Own {
    let sequence = try reader.number()
    _ = try reader.number()
    let stamp = try reader.bytes(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let count = Int(try reader.number())
    let hash = try reader.bytes(count)
    var reasons: [UInt8] = []
    for _ in 0..<(try reader.number()) { reasons.append(try reason(&reader)) }
    return Own(sequence: sequence, time: stamp >> 16, hash: hash, reasons: reasons)
  }

  private static func reason(_ reader: inout FieldReader) throws -> UInt8 {
    switch try reader.byte() {
    case 0:
      _ = try reader.text()
      // The key is an integer.
      guard try reader.byte() == 5 else { throw OtherMessage(number: Frames.stepNumber) }
      _ = try reader.number()
    case 1: _ = try reader.text()
    default:
      _ = try reader.text()
      _ = try reader.text()
    }
    return try reader.byte()
  }
}

extension Client {
  /// Waits until a changeset is decided.
  ///
  /// - Returns: The decision.
  func decision(of sequence: UInt64, on channel: UInt64) async throws -> StepMessage.Own {
    while true {
      let message = try await message(Frames.stepNumber, on: channel)
      if let own = try StepMessage(message)?.own.first(where: { $0.sequence == sequence }) { return own }
    }
  }
}
