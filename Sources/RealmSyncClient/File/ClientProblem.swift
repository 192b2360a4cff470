import RealmStorage
import RealmSync

/// The reason why a session can't go on with a file.
package enum ClientProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// A step begins at another version than that of the file. The session connects again.
  case otherVersion(file: UInt64, step: UInt64)
  /// The server decided another changeset than the file's own, because a copy of the file has used its sequences. The
  /// file has to be reset.
  case otherChangeset(sequence: UInt64)
  /// The parts of a step do not make up one whole step.
  case incompleteStep
  /// The server gave the file a number that can't be its own, or sent a message that does not fit the state of the
  /// session or the file.
  case wrongAnswer
  /// A stamp lies more than a day ahead. No server sends such a stamp.
  case markAhead(milliseconds: UInt64)
  /// The server defines a table or a property in another way than the file. It belongs to another app, or to another
  /// version of the app.
  case otherSchema(table: String, property: String?)
  /// The server told a change, or an id of an element, in the name of the file, and the file has not made it.
  case forgedOwnChange
  /// The step names replicas so that there are more than a file can know (`MessageLimit.stepReplicas`).
  case tooManyReplicas
  /// The file was opened without sync.
  case notSynced
  /// The server sent bytes that are not a valid message.
  case damagedMessage(MessageDamage)
  /// The content of the file has to be replaced by what the server has, and the app wants to do that itself.
  case resetNeeded(isInDoubt: Bool)
  /// The content of the file could not be replaced by what the server has, for the given reason. The app has to decide
  /// what to do with the file.
  indirect case resetFailed(ClientProblem)
  /// The server resets the file again before it has decided what was written again at the last reset.
  case repeatedReset
  case storage(StorageError)

  package var description: String {
    switch self {
    case .otherVersion(let file, let step):
      "The file stands at version \(file), and the server sent a step from version \(step)."
    case .otherChangeset(let sequence):
      "The server has another changeset \(sequence) of the file: a copy of the file was used. It is to be reset."
    case .incompleteStep: "The parts of a step do not belong together."
    case .wrongAnswer: "The server sent what may not be sent at this time. Is it a server of another app?"
    case .markAhead:
      "The server has changes of a time more than a day ahead of this machine's clock. Set the clock that is wrong."
    case .otherSchema(let table, let property):
      "The server defines \(property.map { "\(table).\($0)" } ?? table) otherwise than the file does. Give it another name."
    case .forgedOwnChange:
      "The server told a change in the name of this file that the file has not made. Nothing of it was taken in. Ask who runs the server."
    case .tooManyReplicas:
      "The server names more than \(MessageLimit.stepReplicas) files of other devices, and a file can know no more. Ask whoever runs the server."
    case .notSynced: "The file was opened without being synced."
    case .damagedMessage(let damage): damage.description
    case .resetNeeded:
      "What the file has is to be replaced by what the server has. The app is to decide what becomes of the file."
    case .resetFailed(let cause):
      "What the file has could not be replaced by what the server has, and the app is to decide what becomes of the file. \(cause.description)"
    case .repeatedReset:
      "The server resets the file again before it has taken what was kept at the last reset."
    case .storage(let error): error.description
    }
  }
}
