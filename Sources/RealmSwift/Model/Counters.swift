import RealmStorage

/// Objects whose whole numbers can be added to. All are.
public protocol _ObjectWithCounters: ObjectBase {}

extension Object: _ObjectWithCounters {}
extension EmbeddedObject: _ObjectWithCounters {}

extension _ObjectWithCounters {
  /// Adds to a property, in a write transaction where the object is managed. What several add to one property is added up, where
  /// to set it would keep the last.
  ///
  ///     try realm.write { post.increment(\.likes) }
  ///
  /// - Parameter amount: less than zero to take away.
  /// - Precondition: the property is no primary key and can hold the sum.
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

  /// The same for a property that may be nil, and stays so.
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
