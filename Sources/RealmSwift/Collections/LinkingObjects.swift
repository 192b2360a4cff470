import RealmStorage

/// Marks the type of properties that show who links to an object.
public protocol LinkingObjectsProtocol {
  /// The class of the objects that link.
  associatedtype Element: ObjectBase & RealmCollectionValue
  /// The objects of a class that link by a property, whose name is that of the program.
  init(fromType type: Element.Type, property: String)
  /// The same for what `@Persisted` holds, and replaces when its object comes into a realm.
  init(_ofProperty property: String)
  var _originProperty: String { get }
}

/// The objects whose property links to this one, once for each link. Live, never written.
///
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue>: RealmCollection,
  LinkingObjectsProtocol
{
  public let _originProperty: String
  private let found: _CollectionContent?
  private let place: Place?

  /// Of a property that is declared by `let`, and never changes itself.
  private final class Place {
    var content: _CollectionContent?
  }

  /// Nil of an unmanaged object, which nobody links to.
  var content: _CollectionContent? { found ?? place?.content }

  /// What a property holds until its object is in a realm: nothing. The name is that which the program uses.
  public init(fromType type: Element.Type, property: String) {
    _originProperty = property
    (found, place) = (nil, Place())
  }

  public init(_ofProperty property: String) {
    _originProperty = property
    (found, place) = (nil, nil)
  }

  init(_ content: _CollectionContent, _ property: String) {
    (found, place) = (content, nil)
    _originProperty = property
  }

  public func _moved(to session: _RealmSession) -> LinkingObjects? {
    content?.moved(to: session.session).map { LinkingObjects($0, _originProperty) }
  }

  public var _content: _CollectionContent? { content }
  /// The object that is linked to was deleted, or its realm invalidated; false of an unmanaged object.
  public var isInvalidated: Bool { content?.isInvalidated ?? false }
  /// The number of links; 0 of an unmanaged object. O(log n) where a property links to one object, else in
  /// proportion to the objects that link.
  public var count: Int { content?.count ?? 0 }
  /// An object that links, by its place; one that is not there stops the program.
  public subscript(position: Int) -> Element {
    guard let content else {
      if let noted = PropertyRecorder.element(of: Element.self) { return noted }
      raise("Index out of range", "nobody links to an object that is not in a realm.")
    }
    return element(of: content.row(at: position), content.context)
  }
  public func makeIterator() -> RLMIterator<Element> { content?.iterator() ?? RLMIterator([]) }

  /// Whether both are copies of what was read once, or unmanaged.
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
    if !target.isThere, !context.notesHandles || target.isInvalid {
      context.stopMissing(position, isNew: context.isNew(birth: target.birth))
    }
    return linking(to: target, position)
  }

  /// Whether there is such a row is asked when it is read.
  private static func linking(to target: ManagedRow, _ position: Int) -> LinkingObjects {
    let context = target.context
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
    return LinkingObjects(_CollectionContent(origins, .linking(target, position: origin)), name)
  }
  public static func _write(_ value: LinkingObjects, _ object: ObjectBase, _ position: Int) {
    raise("Read-only property", "a property of \(Self.self) shows links; change the property that links.")
  }
  public static func _converted(_ any: Any) -> LinkingObjects? { nil }
  public func _stored(_ row: _RowOfObject) -> Value { .null }
  public func _becomeManaged(_ object: ObjectBase, _ position: Int) {
    place?.content = object.managedRow.map { Self.linking(to: $0, position).content } ?? nil
  }
}
