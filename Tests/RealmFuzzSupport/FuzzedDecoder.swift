/// A decoder of bytes that come from another party, and how it is tried.
public struct FuzzedDecoder {
  /// How a decoder is tried.
  public struct Trial {
    /// The inputs that the other inputs are made from, at least one. Each of them is given to the decoder first, as it
    /// is.
    public let samples: [[UInt8]]
    let mutator: ByteMutator
    let memory: MemoryBound
    let run: (_ input: [UInt8], _ generator: inout FuzzGenerator) throws -> Bool

    /// - Parameter run: the closure that gives an input to the decoder. It returns whether the decoder accepts the
    ///   input, and throws an error, such as a `FuzzFailure`, if the decoder does what it must not do.
    public init(
      samples: [[UInt8]], mutator: ByteMutator, memory: MemoryBound,
      run: @escaping (_ input: [UInt8], _ generator: inout FuzzGenerator) throws -> Bool
    ) {
      (self.samples, self.mutator, self.memory, self.run) = (samples, mutator, memory, run)
    }
  }

  /// The name of the decoder in a command.
  public let name: String
  /// The number of inputs in a short run.
  let quick: Int
  let make: () throws -> Trial

  /// - Parameters:
  ///   - quick: the number of inputs in a short run: as many as take a fifth of a second.
  ///   - make: the closure that makes the trial. It is called once in a process, before the decoder is tried.
  public init(_ name: String, quick: Int = 20_000, _ make: @escaping () throws -> Trial) {
    (self.name, self.quick, self.make) = (name, quick, make)
  }
}

/// How much memory may be allocated while an input is decoded, and while what was decoded is written and read again.
/// Memory that is freed meanwhile counts, too.
public struct MemoryBound: Sendable {
  private let constant: Int
  private let perByte: Int

  /// - Parameters:
  ///   - constant: the number of bytes that may be allocated whatever the input is.
  ///   - perByte: the additional number of bytes for each byte of the input.
  public init(constant: Int = 256 << 10, perByte: Int) { (self.constant, self.perByte) = (constant, perByte) }

  func allows(_ asked: Int, forInputOf count: Int) -> Bool { asked <= constant + perByte * count }
}
