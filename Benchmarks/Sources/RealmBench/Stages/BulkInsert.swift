import Foundation

/// The bulk insert. A process does nothing else, so that its memory is that of the engine alone.
struct BulkInsert: Codable {
  var seconds: Double
  var peakBytes: Int

  static func run(_ contender: Contender, count: Int, folder: String) throws -> BulkInsert {
    let engine = try contender.open(in: folder, count: count)
    var source = PersonSource(count: count)
    // One batch is made first and discarded, so that the words and caches of the generator do not count as memory of
    // the engine.
    var rehearsal = PersonSource(count: 1_000)
    _ = rehearsal.next()
    let memory = MemoryWatch()
    let seconds = try Measure.seconds { try engine.insertAll(&source) }
    let peak = memory.end()
    try engine.close()
    return BulkInsert(seconds: seconds - source.seconds, peakBytes: peak)
  }

  static func runInProcess(_ contender: Contender, count: Int, folder: String) throws -> BulkInsert {
    let process = Process()
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments =
      ["bulk-insert", "--engine", contender.kind.rawValue, "--count", "\(count)", "--directory", folder]
      + (contender.isEncrypted ? ["--encrypted"] : [])
    process.standardOutput = output
    try process.run()
    let result = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchmarkError("the bulk insert of \(contender.label) failed")
    }
    return try JSONDecoder().decode(BulkInsert.self, from: result)
  }
}
