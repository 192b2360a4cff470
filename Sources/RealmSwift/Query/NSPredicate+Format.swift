public import Foundation
import RealmStorage

#if !canImport(Darwin)
  /// What `NSPredicate` can be made of where Foundation reads no formats.
  public protocol _PredicateFormat {}

  extension NSPredicate: _PredicateFormat {}

  extension _PredicateFormat {
    /// A condition in the format of `NSPredicate`. It is read when a collection of a realm is filtered by it.
    ///
    /// - Parameters:
    ///   - format: see `RealmCollection.filter(_:_:)`.
    ///   - args: values for `%@` and key paths for `%K`.
    public init(format: String, _ args: Any?...) { self.init(format: format, argumentArray: args) }

    /// The same with the values in an array.
    public init(format: String, argumentArray: [Any?]?) {
      let predicate = FormatPredicate(format, argumentArray ?? [])
      guard let made = predicate as? Self else {
        raise("Invalid predicate", "a \(Self.self) has no format; make an NSPredicate.")
      }
      self = made
    }
  }

  /// A condition by its text.
  private final class FormatPredicate: NSPredicate {
    let text: String
    let arguments: [Any?]

    init(_ text: String, _ arguments: [Any?]) {
      self.text = text
      self.arguments = arguments
      super.init(value: true)
    }

    /// None is read from an archive.
    required init?(coder: NSCoder) { nil }

    override func copy(with zone: NSZone? = nil) -> Any { self }
    override func isEqual(_ object: Any?) -> Bool { object as? NSPredicate === self }
    override var hash: Int { ObjectIdentifier(self).hashValue }

    /// Whether the condition holds of an object of a realm.
    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
      guard let object = object as? ObjectBase, let row = object.managedRow else {
        raise(
          "Unmanaged object",
          "a predicate with a format is evaluated with an object of a realm; filter an array with a closure.")
      }
      let predicate = row.context.predicate(format: text, arguments)
      return reading { () throws(StorageError) in
        try row.context.currentTable()?.contains(row: row.row, where: predicate) ?? false
      }
    }
  }
#endif

extension RealmCollection {
  /// The objects of which a predicate holds: one with a format, true or false, and compounds of such. See `filter(_:_:)`.
  ///
  /// A predicate that calls a block stops the program: no database can look into it.
  public func filter(_ predicate: NSPredicate) -> Results<Element> {
    let content = managedContent("filtered")
    return Results(content.filtered(content.context.predicate(predicate)))
  }

  /// The place of the first object of which a predicate holds; nil where there is none. See `filter(_:)`.
  public func index(matching predicate: NSPredicate) -> Int? {
    let content = managedContent("queried")
    return content.index(where: content.context.predicate(predicate))
  }
}

extension RealmKeyedCollection {
  /// The objects of which a predicate holds: see `RealmCollection.filter(_:)`.
  ///
  /// - Precondition: the map is managed.
  public func filter(_ predicate: NSPredicate) -> Results<Value> {
    let content = managedContent("filtered")
    return Results(content.filtered(content.context.predicate(predicate)))
  }
}

extension ObjectContext {
  private enum Step {
    case visit(NSPredicate)
    case join(NSCompoundPredicate.LogicalType, from: Int)
  }

  /// A predicate by the columns of the class. Compounds may be nested to any depth.
  func predicate(_ predicate: NSPredicate) -> RealmStorage.Predicate {
    var made: [RealmStorage.Predicate] = []
    var steps = [Step.visit(predicate)]
    while let step = steps.popLast() {
      switch step {
      case .visit(let compound as NSCompoundPredicate):
        steps.append(.join(compound.compoundPredicateType, from: made.count))
        #if canImport(Darwin)
          let parts = compound.subpredicates.compactMap { $0 as? NSPredicate }
        #else
          let parts = compound.subpredicates
        #endif
        steps += parts.reversed().map { .visit($0) }
      case .visit(let simple): made.append(self.predicate(simple: simple))
      case .join(let type, let start):
        let parts = Array(made[start...])
        made.removeSubrange(start...)
        switch type {
        case .and: made.append(.and(parts))
        case .or: made.append(.or(parts))
        case .not: made.append(.not(.and(parts)))
        @unknown default: stopUnreadable(predicate)
        }
      }
    }
    return made[0]
  }

  private func predicate(simple predicate: NSPredicate) -> RealmStorage.Predicate {
    #if canImport(Darwin)
      let text = predicate.predicateFormat
      if text.hasPrefix("BLOCKPREDICATE") { stopUnreadable(predicate) }
      return self.predicate(format: text, [])
    #else
      if let format = predicate as? FormatPredicate {
        return self.predicate(format: format.text, format.arguments)
      }
      if predicate == NSPredicate(value: true) { return .always }
      if predicate == NSPredicate(value: false) { return .never }
      stopUnreadable(predicate)
    #endif
  }

  private func stopUnreadable(_ predicate: NSPredicate) -> Never {
    raise(
      "Invalid predicate",
      "\(binding.model.name) can't be filtered by \(type(of: predicate)), which calls a block that no database can look into; "
        + "write the condition as a format or as a typed query, or filter an array.")
  }
}
