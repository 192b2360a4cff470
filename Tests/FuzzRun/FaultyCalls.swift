import RealmStorage
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What befalls a call.
enum Fault: Sendable {
  /// The system refuses; nothing was done. All later calls are refused too, or only this one.
  case refusal(CInt, isForEver: Bool)
  /// A write is refused after a part of it was done.
  case torn(CInt)
  /// A signal came before anything was done.
  case interruption
  /// A write or read does less than it was asked.
  case short(isForEver: Bool)

  /// The engine makes up for it, and nobody notices.
  var isHarmless: Bool {
    switch self {
    case .refusal, .torn: false
    case .interruption, .short: true
    }
  }

  var isForEver: Bool {
    switch self {
    case .refusal(_, let isForEver), .short(let isForEver): isForEver
    case .torn, .interruption: false
    }
  }

  static func list(isQuick: Bool) -> [Fault] {
    let few: [Fault] = [
      .interruption, .short(isForEver: true), .refusal(EIO, isForEver: true), .refusal(EIO, isForEver: false),
      .torn(ENOSPC),
    ]
    let more: [Fault] = [
      .short(isForEver: false), .refusal(ENOSPC, isForEver: true), .refusal(ENOSPC, isForEver: false),
      .refusal(EPERM, isForEver: true), .refusal(EPERM, isForEver: false), .torn(EIO),
    ]
    return isQuick ? few : few + more
  }
}

extension Fault: CustomStringConvertible {
  var description: String {
    switch self {
    case .refusal(let number, let isForEver): "error \(number) \(isForEver ? "from" : "at")"
    case .torn(let number): "error \(number) after a part of"
    case .interruption: "an interruption at"
    case .short(let isForEver): "short transfers \(isForEver ? "from" : "at")"
    }
  }
}

/// The system's calls, of which one meets a fault. Reads, writes, syncs and truncations are counted together.
///
/// A sync that meets none does nothing: power never fails here, and the run would wait for the disk.
final class FaultyCalls: SystemCalls {
  private let fault: Fault?
  private let first: Int
  private let native = NativeSystemCalls()
  private let state = Mutex(State())

  private struct State {
    var calls = 0
    var hasMet = false
  }

  /// No call meets a fault.
  init() {
    fault = nil
    first = 0
  }

  /// Call `first`, counted from 0, meets the fault.
  init(_ fault: Fault, at first: Int) {
    self.fault = fault
    self.first = first
  }

  var hasMet: Bool { state.withLock { $0.hasMet } }

  private func meet() -> Fault? {
    let number = state.withLock { state in
      state.calls += 1
      return state.calls - 1
    }
    guard let fault, number == first || (fault.isForEver && number > first) else { return nil }
    state.withLock { $0.hasMet = true }
    return fault
  }

  // MARK: - Calls

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

  /// The engine's own sync goes on when it is interrupted, and there is no half of one.
  func sync(_ descriptor: CInt, kind: SyncKind) -> CInt {
    switch meet() {
    case .some(.refusal(let number, _)), .some(.torn(let number)): return number
    case .some(.interruption), .some(.short), .none: return 0
    }
  }

  func truncate(_ descriptor: CInt, to length: UInt64) -> CInt {
    switch meet() {
    case .some(.refusal(let number, _)), .some(.torn(let number)): return number
    case .some(.interruption), .some(.short), .none: return native.truncate(descriptor, to: length)
    }
  }

  /// Less than a meta page has content; of much, a third.
  private static func part(of count: Int) -> Int { count > 8192 ? count / 3 : min(300, count) }
}
