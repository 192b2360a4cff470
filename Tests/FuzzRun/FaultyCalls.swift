import RealmStorage
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A fault of a system call.
enum Fault: Sendable {
  /// The system refuses the call, and nothing was done. Either only this call is refused, or all later calls, too.
  case refusal(CInt, isForEver: Bool)
  /// A write is refused after a part of it was done.
  case torn(CInt)
  /// A signal interrupts a transfer before it has done anything.
  case interruption(isForEver: Bool)
  /// A write or read transfers fewer bytes than it was asked to.
  case short(isForEver: Bool)

  /// True if the engine repeats the call, so that the fault has no effect.
  var isHarmless: Bool {
    switch self {
    case .refusal, .torn, .interruption(isForEver: true): false
    case .interruption, .short: true
    }
  }

  var isForEver: Bool {
    switch self {
    case .refusal(_, let isForEver), .short(let isForEver), .interruption(let isForEver): isForEver
    case .torn: false
    }
  }

  static func list(isQuick: Bool) -> [Fault] {
    let few: [Fault] = [
      .interruption(isForEver: false), .short(isForEver: true), .refusal(EIO, isForEver: true),
      .refusal(EIO, isForEver: false), .torn(ENOSPC), .refusal(EPERM, isForEver: true),
    ]
    let more: [Fault] = [
      .interruption(isForEver: true), .short(isForEver: false), .refusal(ENOSPC, isForEver: true),
      .refusal(ENOSPC, isForEver: false), .refusal(EPERM, isForEver: false), .torn(EIO),
    ]
    return isQuick ? few : few + more
  }
}

extension Fault: CustomStringConvertible {
  var description: String {
    switch self {
    case .refusal(let number, let isForEver): "error \(number) \(isForEver ? "from" : "at")"
    case .torn(let number): "error \(number) after a part of"
    case .interruption(let isForEver): "interruptions \(isForEver ? "from" : "at")"
    case .short(let isForEver): "short transfers \(isForEver ? "from" : "at")"
    }
  }
}

/// The calls of the system, one of which meets a fault. Calls of all kinds are counted together.
///
/// A sync without a fault does nothing. The power never fails in this run, and the syncs would only take time.
final class FaultyCalls: SystemCalls {
  private let fault: Fault?
  private let first: Int
  private let native = NativeSystemCalls()
  private let state = Mutex(State())

  private struct State {
    var calls = 0
    var faults = 0
  }

  /// Makes calls without a fault.
  init() {
    fault = nil
    first = 0
  }

  /// Makes calls of which call number `first`, counted from 0, meets the fault.
  init(_ fault: Fault, at first: Int) {
    self.fault = fault
    self.first = first
  }

  /// The number of calls that have met the fault.
  var faults: Int { state.withLock { $0.faults } }
  var hasMet: Bool { faults > 0 }

  private func meet() -> Fault? {
    let number = state.withLock { state in
      state.calls += 1
      return state.calls - 1
    }
    guard let fault, number == first || (fault.isForEver && number > first) else { return nil }
    state.withLock { $0.faults += 1 }
    return fault
  }

  /// The error number of a call that moves no bytes; 0 if the call is not refused.
  private func refusal() -> CInt {
    switch meet() {
    case .some(.refusal(let number, _)), .some(.torn(let number)): number
    // The engine itself repeats such calls if they are interrupted.
    case .some(.interruption), .some(.short), .none: 0
    }
  }

  // MARK: - Calls

  func open(_ path: String, _ flags: CInt) -> CInt {
    let refusal = refusal()
    return refusal == 0 ? native.open(path, flags) : -refusal
  }

  func makeFolder(_ path: String) -> CInt {
    let refusal = refusal()
    return refusal == 0 ? native.makeFolder(path) : refusal
  }

  func link(_ path: String, as other: String) -> CInt {
    let refusal = refusal()
    return refusal == 0 ? native.link(path, as: other) : refusal
  }

  func rename(_ path: String, to other: String) -> CInt {
    let refusal = refusal()
    return refusal == 0 ? native.rename(path, to: other) : refusal
  }

  func status(_ descriptor: CInt, _ info: inout stat) -> CInt {
    let refusal = refusal()
    return refusal == 0 ? native.status(descriptor, &info) : refusal
  }

  func map(_ descriptor: CInt, size: Int, writable: Bool) -> (mapping: Mapping?, refusal: CInt) {
    let refusal = refusal()
    return refusal == 0 ? native.map(descriptor, size: size, writable: writable) : (nil, refusal)
  }

  func lock(_ descriptor: CInt, at offset: UInt64, isShared: Bool, waits: Bool) -> CInt {
    let refusal = refusal()
    return refusal == 0
      ? native.lock(descriptor, at: offset, isShared: isShared, waits: waits) : refusal
  }

  func end(_ descriptor: CInt) -> Int {
    let refusal = refusal()
    return refusal == 0 ? native.end(descriptor) : -Int(refusal)
  }

  func populate(_ address: UnsafeRawPointer, _ count: Int) -> CInt {
    let refusal = refusal()
    return refusal == 0 ? native.populate(address, count) : refusal
  }

  func read(_ descriptor: CInt, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
    switch meet() {
    case .some(.refusal(let number, _)), .some(.torn(let number)): return -Int(number)
    case .some(.interruption): return -Int(EINTR)
    case .some(.short):
      let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Self.part(of: buffer.count)])
      return native.read(descriptor, into: part, at: offset)
    case .none: return native.read(descriptor, into: buffer, at: offset)
    }
  }

  func write(_ descriptor: CInt, from buffer: UnsafeRawBufferPointer, at offset: UInt64) -> Int {
    let part = UnsafeRawBufferPointer(rebasing: buffer[..<Self.part(of: buffer.count)])
    switch meet() {
    case .some(.refusal(let number, _)): return -Int(number)
    case .some(.torn(let number)):
      _ = native.write(descriptor, from: part, at: offset)
      return -Int(number)
    case .some(.interruption): return -Int(EINTR)
    case .some(.short): return native.write(descriptor, from: part, at: offset)
    case .none: return native.write(descriptor, from: buffer, at: offset)
    }
  }

  func sync(_ descriptor: CInt, kind: SyncKind) -> CInt { refusal() }

  func truncate(_ descriptor: CInt, to length: UInt64) -> CInt {
    let refusal = refusal()
    return refusal == 0 ? native.truncate(descriptor, to: length) : refusal
  }

  /// The length of a partial transfer: a third of a long one, and of a short one less than the content of a meta page.
  private static func part(of count: Int) -> Int { count > 8192 ? count / 3 : min(300, count) }
}
