import RealmStorage

/// Why a node can't go on with the state in a file.
package enum ServerNodeProblem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The entries behind the state in the file have to be integrated by rules of merging that this library does not
  /// know.
  case unknownSemantics(stored: UInt64, known: UInt64)
  case storage(StorageError)

  package var description: String {
    switch self {
    case .unknownSemantics(let stored, let known):
      "The file of the server is kept by the rules of merging number \(stored), and this server knows the rules 1 to \(known). "
        + "Start the version of the server that wrote the file, or a newer one."
    case .storage(let error): error.description
    }
  }
}
