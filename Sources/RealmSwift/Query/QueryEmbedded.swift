import RealmQuery
import RealmStorage

// A program's own type may be stored as an embedded object. A stored value equals a value of that type if all of its properties
// are equal.

extension Query {
  /// The condition that the value equals another one property by property; nil if the other value is not stored as an embedded
  /// object.
  func equal<Other: _Persistable>(toParts other: Other) -> Query<Bool>? {
    let type = Other._type
    guard type.column == .link, type.form == .value, type.target is EmbeddedObject.Type else { return nil }
    var part: ObjectBase?
    _ = other._stored { object in
      part = object
      return nil
    }
    // An embedded object itself is found by its row.
    guard let part, !(plain(other) is ObjectBase) else { return nil }
    let printed = test(.compare(.equal), PropertyValue(other))
    let model = part.ownModel
    var members: [Int] = model.properties.map { property in
      guard property.type.form == .value, !property.type.canLink else {
        raise(
          "Invalid predicate",
          "a \(model.name) can't be compared, since \(model.name).\(property.name) links or is a collection; compare its other "
            + "properties one by one, by persistableValue.")
      }
      let stored = property.access.stored(part, property.offset) { _ in nil }
      let member: Query<Bool> = path { $0.adding([property.name]) }
      return member.test(.compare(.equal), StoredQueryValue(stored)).node(in: draft)
    }
    // If there is no value, all of its properties read as null, which equals null. The condition therefore also
    // requires that there is a value.
    let there: Query<Bool> = path { $0 }
    members.append(there.test(.compare(.notEqual), StoredQueryValue(.null)).node(in: draft))
    let all = draft.add(.and(members))
    if case .node(let node) = printed.content { draft.print(all, as: node) }
    return Query<Bool>(.node(all), draft)
  }
}
