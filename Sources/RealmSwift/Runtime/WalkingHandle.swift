/// The object that a walk over rows returns. If nothing has kept the object of the last row, that object becomes the
/// object of the next row, which saves making a new one.
///
/// The program can't notice this. There is no reference to the object left, neither strong, weak nor unowned, and a
/// handle keeps nothing of its row but the key (`ObjectModel.canMoveHandles`). In a realm that notes the rows of its
/// handles, a new object is made for each row.
struct WalkingHandle {
  /// Keeps the context alive.
  private let life: SessionLife
  private let context: UncountedReference<ObjectContext>
  private let model: ObjectModel
  /// The generation in which the rows existed. A row that was deleted since the walk began is not taken for damage.
  private let birth: UInt64
  private var object: ObjectBase?
  /// The address of `object`. The counts of the object are read at this address, which adds no reference.
  private var place: UnsafeRawPointer?
  // This is a copy because reading a static constant takes a call.
  private let newCounts = InstanceMaker.newCounts

  init(_ context: ObjectContext) {
    self.context = context.ofHandles
    life = self.context.counted.session.life
    model = context.binding.model
    birth = context.session.generation
  }

  /// Returns a handle of a row. It may be the handle of the last row.
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
