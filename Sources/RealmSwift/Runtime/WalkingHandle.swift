/// The object that a walk over rows hands out: where nobody has kept the last one, it becomes the next, which spares making
/// that.
///
/// Nobody can tell it from a new one: there is no reference to it left, strong, weak or unowned, and of its row a handle has
/// the key only (`ObjectModel.canMoveHandles`).
struct WalkingHandle {
  private var object: ObjectBase?
  /// The same: looked at without counting a reference.
  private var place: UnsafeRawPointer?

  /// A handle of a row, which was there in a generation.
  @inline(__always)
  mutating func move(to row: UInt64, _ context: ObjectContext, birth: UInt32) -> ObjectBase {
    // Looked at before the reference is taken, which counts one more.
    if let place, context.binding.model.canMoveHandles, InstanceMaker.isReferredToOnce(place), let object,
      object.context === context.session.context(context, ofRow: row)
    {
      object.row = row
      return object
    }
    let made = context.object(row, birth: birth)
    object = made
    place = UnsafeRawPointer(Unmanaged.passUnretained(made).toOpaque())
    return made
  }
}
