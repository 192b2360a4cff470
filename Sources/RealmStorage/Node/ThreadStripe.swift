#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A number that differs between most threads, so that they count in different places.
enum ThreadStripe {
  static var current: Int {
    let handle = UInt(bitPattern: Int(truncatingIfNeeded: number))
    // Handles are addresses that lie a stack apart. The multiplication spreads their differences over the high bits.
    return Int((handle &* 0x9e37_79b9_7f4a_7c15) >> 48)
  }

  private static var number: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
