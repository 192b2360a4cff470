import RealmStorage

/// The protocol of property types that show which objects link to an object. `LinkingObjects` conforms.
public protocol LinkingObjectsProtocol {
  /// The class of the objects that link.
  associatedtype Element: ObjectBase & RealmCollectionValue
  /// Makes a value for a property that is declared without `@Persisted`.
  ///
  /// - Parameters:
  ///   - type: the class of the objects that link.
  ///   - property: the Swift name of their property that links.
  init(fromType type: Element.Type, property: String)
  /// Makes the value that `@Persisted` holds until the object is in a realm.
  init(_ofProperty property: String)
  /// The Swift name of the property that links.
  var _originProperty: String { get }
}

/// The objects that link to this object by one property. An object that links several times is there once for each link. The
/// collection is live and can't be changed; change the links instead.
///
///     @Persisted(originProperty: "dogs") var owners: LinkingObjects<Person>
public struct LinkingObjects<Element: ObjectBase & RealmCollectionValue>: RealmCollection,
  LinkingObjectsProtocol
{
  public let _originProperty: String
  private let found: _CollectionContent?
  private let place: Place?

  /// Holds the content for a property that is declared by `let`, and so can't be replaced.
  private final class Place {
    var content: _CollectionContent?
  }

  /// The content that finds the objects; nil if the object is unmanaged. Nothing links to an unmanaged object.
  var content: _CollectionContent? { found ?? place?.content }

  /// Makes a value for a property that is declared without `@Persisted`. It is empty until its object is in a realm.
  ///
  /// - Parameters:
  ///   - type: the class of the objects that link.
  ///   - property: the Swift name of their property that links.
  public init(fromType type: Element.Type, property: String) {
    _originProperty = property
    (found, place) = (nil, Place())
  }

  /// Makes the value that `@Persisted` holds until the object is in a realm.
  public init(_ofProperty property: String) {
    _originProperty = property
    (found, place) = (nil, nil)
  }

  init(_ content: _CollectionContent, _ property: String) {
    (found, place) = (content, nil)
    _originProperty = property
  }

  /// The same collection in another session; nil if its object is not there or is unmanaged.
  public func _moved(to session: _RealmSession) -> LinkingObjects? {
    content?.moved(to: session.session).map { LinkingObjects($0, _originProperty) }
  }

  /// The content that queries of the collection read; nil if the object is unmanaged.
  public var _content: _CollectionContent? { content }
  /// Whether the object that is linked to was deleted, or its realm was invalidated. The value is false for an unmanaged
  /// object.
  public var isInvalidated: Bool { content?.isInvalidated ?? false }
  /// The number of links; 0 for an unmanaged object. O(log n) if the property links to one object; otherwise the time is
  /// proportional to the number of linking objects.
  public var count: Int { content?.count ?? 0 }
  /// The object at an index, from 0 to `count - 1`. Another index stops the program.
  public subscript(position: Int) -> Element {
    guard let content else {
      if let noted = PropertyRecorder.element(of: Element.self) { return noted }
      raise("Index out of range", "nobody links to an object that is not in a realm.")
    }
    return element(of: content.row(at: position), content.context)
  }
  /// Makes an iterator over the objects that link now.
  public func makeIterator() -> RLMIterator<Element> { content?.iterator() ?? RLMIterator([]) }

  /// Whether both are copies of one value, or both belong to unmanaged objects.
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

  /// The content of a property. It does not ask whether the row is there; reading the content asks.
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
