public import Foundation
import RealmStorage

#if !canImport(Darwin)
  /// Gives `NSPredicate` initializers with a format on systems whose Foundation has none.
  public protocol _PredicateFormat {}

  extension NSPredicate: _PredicateFormat {}

  extension _PredicateFormat {
    /// Makes a condition from the format of `NSPredicate`. The format is read when a collection of a realm is filtered by the
    /// predicate.
    ///
    /// - Parameters:
    ///   - format: see `RealmCollection.filter(_:_:)`.
    ///   - args: values for `%@` and key paths for `%K`, in the order of the format.
    public init(format: String, _ args: Any?...) { self.init(format: format, argumentArray: args) }

    /// Makes a condition from the format of `NSPredicate`, with the values for `%@` and the key paths for `%K` in an array.
    public init(format: String, argumentArray: [Any?]?) {
      let predicate = FormatPredicate(format, argumentArray ?? [])
      guard let made = predicate as? Self else {
        raise("Invalid predicate", "a \(Self.self) has no format; make an NSPredicate.")
      }
      self = made
    }
  }

  /// A condition in text form.
  private final class FormatPredicate: NSPredicate {
    let text: String
    let arguments: [Any?]

    init(_ text: String, _ arguments: [Any?]) {
      self.text = text
      self.arguments = arguments
      super.init(value: true)
    }

    /// This initializer fails, because a predicate with a format is not read from an archive.
    required init?(coder: NSCoder) { nil }

    override func copy(with zone: NSZone? = nil) -> Any { self }
    override func isEqual(_ object: Any?) -> Bool { object as? NSPredicate === self }
    override var hash: Int { ObjectIdentifier(self).hashValue }

    /// Whether the condition holds for an object of a realm. An object that is not managed stops the program.
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
  /// The objects for which a predicate holds. The predicate has a format, or is true or false, or is a compound of such
  /// predicates. The results are live. See `filter(_:_:)`.
  ///
  /// - Precondition: the collection is managed and holds objects. A predicate that calls a block stops the program, since no
  ///   database can look into it.
  public func filter(_ predicate: NSPredicate) -> Results<Element> {
    let content = managedContent("filtered")
    return Results(content.filtered(content.context.predicate(predicate)))
  }

  /// The index of the first object for which a predicate holds; nil if there is none. See `filter(_:)`.
  public func index(matching predicate: NSPredicate) -> Int? {
    let content = managedContent("queried")
    return content.index(where: content.context.predicate(predicate))
  }
}

extension RealmKeyedCollection {
  /// The objects for which a predicate holds. The results are live. See `RealmCollection.filter(_:)`.
  ///
  /// - Precondition: the map is managed and holds objects.
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

  /// Translates a predicate to the columns of the class. Compounds may be nested to any depth.
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
