/// The object that a walk over rows returns. If nobody has kept the object of the last row, it becomes that of the next row,
/// which saves making a new one.
///
/// Nobody can notice this: there is no reference to the object left, neither strong, weak nor unowned, and all that a handle has
/// of its row is the key (`ObjectModel.canMoveHandles`). In a realm that notes the rows of its handles, each object is made anew.
struct WalkingHandle {
  /// Keeps the context.
  private let life: SessionLife
  private let context: UncountedReference<ObjectContext>
  private let model: ObjectModel
  /// The generation in which the rows were there. A row that was deleted since the walk began is no damage.
  private let birth: UInt64
  private var object: ObjectBase?
  /// The address of `object`, with which its counts are read without adding a reference.
  private var place: UnsafeRawPointer?
  // It is kept here because reading a static constant takes a call.
  private let newCounts = InstanceMaker.newCounts

  init(_ context: ObjectContext) {
    self.context = context.ofHandles
    life = self.context.counted.session.life
    model = context.binding.model
    birth = context.session.generation
  }

  /// Returns a handle of a row.
  @inline(__always)
  mutating func move(to row: UInt64) -> ObjectBase {
    // The counts are read before `object` is read, which adds a reference.
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
