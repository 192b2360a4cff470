/// The object that a walk over rows hands out: where nobody has kept the last one, it becomes the next, which spares making
/// that.
///
/// Nobody can tell it from a new one: there is no reference to it left, strong, weak or unowned, and of its row a handle has
/// the key only (`ObjectModel.canMoveHandles`). Where rows of handles are noted each is made.
struct WalkingHandle {
  /// Keeps the context.
  private let life: SessionLife
  private let context: UncountedReference<ObjectContext>
  private let model: ObjectModel
  /// The generation in which the rows were there: what was deleted since the walk began is no damage.
  private let birth: UInt64
  private var object: ObjectBase?
  /// The same: looked at without counting a reference.
  private var place: UnsafeRawPointer?
  // Kept here: a static constant is asked for by a call.
  private let newCounts = InstanceMaker.newCounts

  init(_ context: ObjectContext) {
    self.context = context.ofHandles
    life = self.context.counted.session.life
    model = context.binding.model
    birth = context.session.generation
  }

  /// A handle of a row.
  @inline(__always)
  mutating func move(to row: UInt64) -> ObjectBase {
    // Looked at before the reference is taken, which counts one more.
    if let place, InstanceMaker.counts(place) == newCounts, let object {
      object.move(to: row)
      return object
    }
    return make(row)
  }

  private mutating func make(_ row: UInt64) -> ObjectBase {
    let made = context.use { model.handle($0, row, birth: birth) }
    if model.canMoveHandles, context.use({ !$0.notesHandles }) {
      object = made
      place = UnsafeRawPointer(Unmanaged.passUnretained(made).toOpaque())
    }
    return made
  }
}
