import Dispatch

extension DispatchQueue {
  /// It runs several blocks at the same time. There is no public way to ask, and every object of Dispatch has a class.
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

    /// What the object of Dispatch that this one stands for begins with: the table of its functions.
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
