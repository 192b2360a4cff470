import RealmStorage

/// Objects whose whole-number properties can be incremented. `Object` and `EmbeddedObject` conform.
public protocol _ObjectWithCounters: ObjectBase {}

extension Object: _ObjectWithCounters {}
extension EmbeddedObject: _ObjectWithCounters {}

extension _ObjectWithCounters {
  /// Adds a number to a property. A managed object needs a write transaction.
  ///
  /// In a synced realm the amounts that several clients add to one property are added up. If the clients set the property
  /// instead, only the last value is kept.
  ///
  ///     try realm.write { post.increment(\.likes) }
  ///
  /// A sum that the property can't hold stops the program. If the object is managed, so do a missing write transaction, a key
  /// path through another object, and a primary key.
  ///
  /// - Parameters:
  ///   - keyPath: a property of the object itself.
  ///   - amount: the number to add; a negative number subtracts.
  public func increment<Number: _IntegerScalar>(
    _ keyPath: ReferenceWritableKeyPath<Self, Number>, by amount: Number = 1
  ) {
    guard context != nil else {
      let (sum, isTooLarge) = self[keyPath: keyPath].addingReportingOverflow(amount)
      if isTooLarge { stopOverflow(PropertyRecorder.names(keyPath)[0]) }
      self[keyPath: keyPath] = sum
      return
    }
    add(Int64(amount), PropertyRecorder.names(keyPath), within: Int64(Number.min)...Int64(Number.max))
  }

  /// Adds a number to an optional property. A managed object needs a write transaction. A property that is nil stays nil.
  ///
  /// In a synced realm the amounts that several clients add to one property are added up.
  ///
  /// A sum that the property can't hold stops the program. If the object is managed, so do a missing write transaction, a key
  /// path through another object, and a primary key.
  ///
  /// - Parameters:
  ///   - keyPath: a property of the object itself.
  ///   - amount: the number to add; a negative number subtracts.
  public func increment<Number: _IntegerScalar>(
    _ keyPath: ReferenceWritableKeyPath<Self, Number?>, by amount: Number = 1
  ) {
    guard context != nil else {
      guard let number = self[keyPath: keyPath] else { return }
      let (sum, isTooLarge) = number.addingReportingOverflow(amount)
      if isTooLarge { stopOverflow(PropertyRecorder.names(keyPath)[0]) }
      self[keyPath: keyPath] = sum
      return
    }
    add(Int64(amount), PropertyRecorder.names(keyPath), within: Int64(Number.min)...Int64(Number.max))
  }
}

extension ObjectBase {
  fileprivate func add(_ amount: Int64, _ names: [String], within range: ClosedRange<Int64>) {
    guard let context, names.count == 1, let position = context.binding.model.position(of: names[0]) else {
      raise("Invalid key path", "\(names.joined(separator: ".")) is no property of the object itself.")
    }
    if !context.add(amount, position, row, birth: birth, within: range) { stopOverflow(names[0]) }
  }

  fileprivate func stopOverflow(_ name: String) -> Never {
    raise(
      "Overflow",
      "\(ownModel.name).\(name) can't hold the sum; it stays as it was. Let it be an Int64."
    )
  }
}
