import Foundation
import RealmSwift

/// Something to do, which several people share.
final class Item: Object {
  @Persisted(primaryKey: true) var id: UUID
  @Persisted var text: String
  @Persisted var isDone = false
  /// Whoever wants it done adds one. It is only added to, so that nothing is lost where several do so at the same time.
  @Persisted var votes = 0
  @Persisted var steps: List<String>
  /// Lists show the oldest first.
  @Persisted var created: Date
}

/// Is written by one program and seen by the others, to measure how long that takes.
final class Ping: Object {
  /// The id of the user who writes it.
  @Persisted(primaryKey: true) var sender: String
  /// When it was written, in nanoseconds of the machine's uptime.
  @Persisted var sent: Int
}
