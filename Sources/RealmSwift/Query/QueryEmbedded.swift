import RealmQuery
import RealmStorage

// A value of a type of the program that is stored as an embedded object equals what is stored where all of its properties do.

extension Query {
  /// The condition that the value equals another, property by property; nil where the other is not stored as an embedded object.
  func equal<Other: _Persistable>(toParts other: Other) -> Query<Bool>? {
    let type = Other._type
    guard type.column == .link, type.form == .value, type.target is EmbeddedObject.Type else { return nil }
    var part: ObjectBase?
    _ = other._stored { object in
      part = object
      return nil
    }
    // An embedded object itself is looked for by its row.
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
    // Without a value no property of it is anything: null equals null.
    let there: Query<Bool> = path { $0 }
    members.append(there.test(.compare(.notEqual), StoredQueryValue(.null)).node(in: draft))
    let all = draft.add(.and(members))
    if case .node(let node) = printed.content { draft.print(all, as: node) }
    return Query<Bool>(.node(all), draft)
  }
}
