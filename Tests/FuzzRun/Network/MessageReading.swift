import RealmFuzzSupport
import RealmSync
import RealmSyncSupport

/// Reads messages, and makes samples of them.
enum MessageReading {
  /// The greatest number of bytes of an expanded body.
  static let bodyLimit = 64 << 10
  /// The greatest number of bytes of a sample. Longer samples would take more time and have nothing that shorter ones
  /// lack.
  private static let mostOfSample = 1500

  /// The memory for messages that are not expanded. A changeset whose instructions are as short as possible takes a
  /// hundred times the memory of its bytes, for each time that it is copied while it grows.
  static let plainMemory = MemoryBound(constant: 2 << 20, perByte: 4000)
  /// The memory for messages that may be expanded up to the limit.
  static let expandedMemory = MemoryBound(constant: 2 << 20 + bodyLimit * 4000, perByte: 4000)

  // MARK: - Reading

  /// Reads a message of a server; the result is nil if the frame is refused.
  static func server(_ frame: [UInt8], _ generator: inout FuzzGenerator) throws -> ServerMessage? {
    do throws(MessageDamage) {
      return try ServerMessage(bytes: frame, bodyLimit: bodyLimit)
    } catch {
      try check(error, frame.count, &generator)
      return nil
    }
  }

  /// Reads a message of a client; the result is nil if the frame is refused.
  static func client(_ frame: [UInt8], _ generator: inout FuzzGenerator) throws -> ClientMessage? {
    do throws(MessageDamage) {
      return try ClientMessage(bytes: frame, bodyLimit: bodyLimit)
    } catch {
      try check(error, frame.count, &generator)
      return nil
    }
  }

  /// Checks that the damage lies in the frame or in its body, and has a description.
  private static func check(_ damage: MessageDamage, _ count: Int, _ generator: inout FuzzGenerator) throws {
    guard (0...(damage.isInBody ? bodyLimit : count)).contains(damage.offset) else {
      throw FuzzFailure("damage is told at byte \(damage.offset) of \(count)")
    }
    // The description takes longer than reading the message, so it is checked rarely.
    if generator.chance(2), !damage.description.hasPrefix("A message ") {
      throw FuzzFailure("damage is told as: \(damage.description)")
    }
  }

  // MARK: - Samples

  static func serverMessages() -> [ServerMessage] {
    var maker = MessageMaker(seed: 21)
    return (0..<300).map { _ in maker.serverMessage() }
  }

  static func clientMessages() -> [ClientMessage] {
    var maker = MessageMaker(seed: 22)
    return (0..<300).map { _ in maker.clientMessage() }
  }

  static func steps() -> [Step] {
    var maker = MessageMaker(seed: 23)
    return (0..<300).map { _ in maker.step() }
  }

  static func uploads() -> [UploadMessage] {
    var maker = MessageMaker(seed: 24)
    return (0..<300).map { _ in maker.upload() }
  }

  /// The samples that are not too long.
  static func short(_ samples: [[UInt8]]) -> [[UInt8]] { samples.filter { $0.count <= mostOfSample } }
}
