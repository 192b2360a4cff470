import RealmStorage
import Synchronization

/// A collection of this library whose elements may be values.
protocol ValueCollection {
  /// The elements in stored form. For an unmanaged collection of objects the array holds nothing of use.
  var storedValues: [RealmStorage.Value] { get }
  /// The content that results of the collection read; nil if the collection is unmanaged or holds objects.
  var valueContent: ValueContent? { get }
}

/// The values of a managed collection, sorted or without duplicates. They are read anew when the realm has changed.
final class ValueContent {
  enum Step {
    case sorted(ascending: Bool)
    case distinct
  }

  /// A value, and its place in the collection.
  typealias Place = (value: Value, step: NestedPlace.Step)

  private var kept: _CollectionCell
  /// The cell of the collection. What reading notes in it is not kept if the cell is frozen, because other threads may read
  /// it.
  private(set) var cell: _CollectionCell {
    get { kept }
    _modify {
      if kept.isFrozen {
        var copy = kept
        yield &copy
      } else {
        yield &kept
      }
    }
  }
  private let form: Value.Form
  private let steps: [Step]
  private var known: (places: [Place], generation: UInt64)?
  /// The values that were found in a frozen collection, which several threads may read at a time.
  private let knownFrozen = Mutex<[Place]?>(nil)

  init(_ cell: _CollectionCell, _ form: Value.Form, _ steps: [Step] = []) {
    (kept, self.form, self.steps) = (cell, form, steps)
  }

  /// Whether the content shows the collection of a property as it is stored, without further steps.
  var isPlain: Bool { steps.isEmpty && kept.nestedPlace == nil }

  func adding(_ step: Step) -> ValueContent { ValueContent(cell, form, steps + [step]) }

  /// The same content in another session; nil if the object of the collection is not there.
  func moved(to session: RealmSession) -> ValueContent? {
    cell.moved(to: session).map { ValueContent($0, form, steps) }
  }

  var realm: Realm { cell.realm }
  var isInvalidated: Bool { cell.isInvalidated(form) }
  var values: [Value] { places().map(\.value) }

  /// The values with their places. O(1) if the realm has not changed since they were read. The array is empty if the
  /// collection is invalidated.
  func places() -> [Place] {
    let session = cell.owner.session
    session.check()
    if let known, known.generation == session.generation { return known.places }
    if kept.isFrozen, let places = knownFrozen.withLock({ $0 }) { return places }
    if isInvalidated { return [] }
    var places: [Place]
    switch form {
    case .list: places = cell.elements().enumerated().map { ($1, .position($0)) }
    case .map:
      let map = cell.map()
      places = zip(map.keys, map.values).map { ($1, .key($0)) }
    }
    for step in steps {
      switch step {
      // The sort keeps the order of equal values.
      case .sorted(ascending: true): places.sort { Value.isBefore($0.value, $1.value) }
      case .sorted(ascending: false): places.sort { Value.isBefore($1.value, $0.value) }
      case .distinct:
        var met = Set<SetElement>()
        places = places.filter { met.insert(SetElement($0.value)).inserted }
      }
    }
    if kept.isFrozen {
      let found = places
      knownFrozen.withLock { $0 = found }
    } else {
      known = (places, session.generation)
    }
    return places
  }

  func element<Element: RealmCollectionValue>(at index: Int) -> Element {
    let places = places()
    guard places.indices.contains(index) else {
      raise("Index out of range", "there is no element \(index) in results of \(places.count) values.")
    }
    return Element._element(places[index].value, in: cell, at: places[index].step)
  }

  /// Makes an iterator over the values that there are now.
  func iterator<Element: RealmCollectionValue>() -> RLMIterator<Element> {
    let (places, cell) = (places(), cell)
    func element(_ place: Place) -> Element { Element._element(place.value, in: cell, at: place.step) }
    // The values are read one at a time because reading one may stop the program.
    if Element._mayBeUnknown { return RLMIterator(count: places.count) { element(places[$0]) } }
    return RLMIterator(places.map(element))
  }
}
