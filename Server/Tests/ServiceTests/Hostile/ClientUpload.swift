@testable import Accounts

/// The bytes of changesets, in the only accepted form (docs/sync-protocol.md, "Upload").
enum Changesets {
  /// A changeset that makes objects of a class with an integer as the key, each with the same data.
  static func objects(_ table: String, keys: Range<Int>, data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [3]
    for name in [table, "_id", "data"] { bytes += Bytes.text(name) }
    // The changeset defines the class with its key, and a property of data.
    bytes += [17, 0, 1, 1, 5, 0, 0]
    bytes += [18, 0, 2, 9, 0, 0]
    for key in keys {
      bytes += [16, 0, 5]
      bytes += Bytes.number(UInt64(2 * key))
      // The object is made, and its property is set.
      bytes += [1, 3, 2, 0, 9]
      bytes += Bytes.counted(data)
    }
    bytes.append(0)
    return bytes
  }

  /// A changeset that makes an object of a class with a list, and inserts an element into it. The id of the element
  /// belongs to the replica at the place 1 of the upload.
  static func element(of table: String) -> [UInt8] {
    var bytes: [UInt8] = [3]
    for name in [table, "_id", "items"] { bytes += Bytes.text(name) }
    bytes += [17, 0, 1, 1, 5, 0, 0]
    // This is the list of integers.
    bytes += [18, 0, 2, 5, 1, 0]
    bytes += [16, 0, 5, 2, 1]
    // These bytes are the path, the id, its neighbours, and the number 7.
    bytes += [8, 2, 0, 1, 1, 0, 0, 0, 0, 5, 14]
    bytes.append(0)
    return bytes
  }
}

/// An upload as a client sends it.
struct ClientUpload {
  var sequence: UInt64 = 1
  var previous: [UInt8] = []
  var base: UInt64
  /// The stamp, in milliseconds since 1970.
  var time: UInt64
  var querySet: UInt64 = 1
  /// The numbers of replicas, by their places in the upload. The first one names none.
  var replicas: [UInt64] = [0]
  var changeset: [UInt8]

  /// The first upload of a file.
  init(_ welcome: WelcomeMessage, _ changeset: [UInt8]) {
    (base, time, self.changeset) = (welcome.logVersion, welcome.time, changeset)
  }

  /// The upload that follows this one.
  func next(_ changeset: [UInt8]) -> ClientUpload {
    var next = self
    next.sequence += 1
    (next.previous, next.changeset) = (hash, changeset)
    return next
  }

  /// The message. Its body is not compressed.
  var frame: [UInt8] {
    var frame: [UInt8] = [12, 0]
    frame += Bytes.number(sequence)
    frame += Bytes.counted(previous)
    frame += Bytes.number(base)
    frame += tail
    return frame
  }

  /// The hash, which covers the changeset and all changesets before it.
  var hash: [UInt8] {
    var bytes = Bytes.counted(previous)
    bytes += Bytes.number(sequence)
    bytes += tail
    return Sodium.hash(bytes)
  }

  /// The bytes that are both in the message and in the hashed bytes.
  private var tail: [UInt8] {
    var bytes = Bytes.stamp(time)
    bytes += Bytes.number(querySet)
    bytes.append(0)
    bytes += Bytes.number(UInt64(replicas.count))
    for replica in replicas { bytes += Bytes.number(replica) }
    bytes += Bytes.counted(changeset)
    return bytes
  }
}
