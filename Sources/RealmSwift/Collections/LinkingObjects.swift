import RealmStorage

/// Marks the type of properties that show who links to an object.
public protocol LinkingObjectsProtocol {
  associatedtype Element: ObjectBase & RealmCollectionValue
  init(fromType type: Element.Type, property: String)
  var _originProperty: String { get }
}

/// The objects whose property links to this one, once for each link. Live, never written.
///
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue>: RealmCollection,
  LinkingObjectsProtocol
{
  public let _originProperty: String
  private let place: Place

  /// What a property that is declared by `let` never changes itself.
  private final class Place {
    var content: _CollectionContent?
    init(_ content: _CollectionContent?) { self.content = content }
  }

  /// Nil of an unmanaged object, which nobody links to.
  var content: _CollectionContent? { place.content }

  public init(fromType type: Element.Type, property: String) {
    _originProperty = property
    place = Place(nil)
  }

  init(_ content: _CollectionContent, _ property: String) {
    place = Place(content)
    _originProperty = property
  }

  public var _content: _CollectionContent? { content }
  public var isInvalidated: Bool { content?.isInvalidated ?? false }
  public var count: Int { content?.count ?? 0 }
  public subscript(position: Int) -> Element {
    guard let content else {
      raise("Index out of range", "nobody links to an object that is not in a realm.")
    }
    return element(of: content.row(at: position), content.context)
  }
  public func makeIterator() -> RLMIterator<Element> { content?.iterator() ?? RLMIterator([]) }

  public static func == (left: LinkingObjects, right: LinkingObjects) -> Bool {
    left.content === right.content
  }
}

extension LinkingObjects: DescribedCollection {}

extension LinkingObjects: _Persistable {
  public typealias PersistedType = LinkingObjects

  public static var _type: _PropertyType {
    _PropertyType(.link, form: .linkingObjects(property: ""), target: Element.self)
  }
  public static func _initial() -> LinkingObjects {
    raise("Invalid property", "a property of \(Self.self) is declared by @Persisted(originProperty: \"…\").")
  }
  public static func _placeholder(of recorder: ObjectBase, _ position: Int) -> LinkingObjects {
    LinkingObjects(fromType: Element.self, property: "")
  }
  public static func _read(_ object: ObjectBase, _ position: Int) -> LinkingObjects {
    guard let target = object.managedRow else { return LinkingObjects(fromType: Element.self, property: "") }
    let context = target.context
    context.session.check()
    if !target.isThere { context.stopMissing(position, isNew: context.isNew(birth: target.birth)) }
    guard case .linkingObjects(let name) = context.binding.model.properties[position].type.form else {
      return LinkingObjects(fromType: Element.self, property: "")
    }
    let origins = context.session.context(Element.self)
    let model = origins.binding.model
    guard let origin = model.position(of: name),
      model.properties[origin].type.target == context.binding.model.type
    else {
      raise(
        "Invalid property",
        "\(context.binding.model.name).\(context.binding.model.properties[position].name) shows who links by "
          + "\(model.name).\(name), which is no property that links to \(context.binding.model.name).")
    }
    return LinkingObjects(
      _CollectionContent(origins, .linking(target, position: origin)), name)
  }
  public static func _write(_ value: LinkingObjects, _ object: ObjectBase, _ position: Int) {
    raise("Read-only property", "a property of \(Self.self) shows links; change the property that links.")
  }
  public static func _converted(_ any: Any) -> LinkingObjects? { nil }
  public func _stored(_ row: _RowOfObject) -> Value { .null }
  public func _becomeManaged(_ object: ObjectBase, _ position: Int) {
    place.content = Self._read(object, position).content
  }
}
