import Dispatch

extension DispatchQueue {
  /// Whether the queue runs several blocks at the same time. Dispatch has no public function that tells this, but its objects
  /// have a class for each kind of queue.
  var isConcurrent: Bool {
    #if canImport(Darwin)
      let name = String(describing: type(of: self))
      return name.contains("concurrent") || name.contains("global")
    #else
      guard let kind = kind else { return false }
      return kind == Self.concurrentKind || kind == Self.globalKind
    #endif
  }

  #if !canImport(Darwin)
    private static let concurrentKind = DispatchQueue(label: "io.realm.concurrent", attributes: .concurrent)
      .kind
    private static let globalKind = DispatchQueue.global().kind

    /// The first word of the object of Dispatch: the address of the table of its functions, which differs by kind.
    private var kind: UInt? {
      var mirror = Mirror(reflecting: self) as Mirror?
      while let seen = mirror {
        for child in seen.children {
          if let object = child.value as? OpaquePointer { return UnsafePointer<UInt>(object).pointee }
        }
        mirror = seen.superclassMirror
      }
      return nil
    }
  #endif
}
