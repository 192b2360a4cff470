import Foundation
import SyncPrograms

/// A device that changes a number, and a device that observes it.
final class Pair {
  private let writer: Program
  private let observer: Program
  /// The number of changes so far.
  private var changes = 0

  /// - Parameters:
  ///   - address: The address at which the device that changes the number finds the server.
  ///   - other: The address at which the other device finds it.
  init(_ setting: Setting, of address: String, and other: String) throws {
    writer = try setting.client(.write, of: address)
    do {
      try writer.answer("ready")
      observer = try setting.client(.observe, of: other)
    } catch {
      writer.end()
      throw error
    }
    do {
      try observer.answer("ready")
      // The first changes may include work that is done only once.
      _ = try change(20, pause: 20)
    } catch {
      end()
      throw error
    }
  }

  func end() {
    observer.end()
    writer.end()
  }

  /// Changes the number `count` times.
  ///
  /// - Parameter pause: The milliseconds between two changes.
  /// - Returns: The milliseconds from the beginning of each commit until the observer hears of it or of a later one.
  func change(_ count: Int, pause: Int) throws -> [Double] {
    try writer.tell("change \(count) \(pause)")
    return try delays(within: 60 + Double(count * pause) / 100)
  }

  /// Changes the number from now on until `stop`.
  func begin(pause: Int) throws { try writer.tell("begin \(pause)") }

  /// - Returns: The milliseconds for each change, as `change` returns them.
  func stop() throws -> [Double] {
    try writer.tell("stop")
    return try delays(within: 300)
  }

  private func delays(within seconds: Double) throws -> [Double] {
    let last = Int(try writer.answer("changed", 1, within: seconds)[0])
    try observer.tell("\(last)")
    try observer.answer("seen", within: seconds)
    let times: [UInt64] = try read(writer.folder.appending(path: Writer.file))
    let arrivals: [Observer.Arrival] = try read(observer.folder.appending(path: Observer.file))
    let first = changes
    changes = last
    guard times.count == last else {
      throw Program.Failure("A writer has noted \(times.count) changes of \(last).")
    }
    var found: [Double] = []
    var place = 0
    for number in first..<last {
      // Several changes may arrive together, and the observer sees only the last one.
      while place < arrivals.count, arrivals[place].number <= number { place += 1 }
      guard place < arrivals.count else {
        throw Program.Failure("An observer has not seen the change \(number + 1).")
      }
      found.append(Double(Int64(arrivals[place].time) - Int64(times[number])) / 1_000_000)
    }
    return found
  }

  private func read<Value: Decodable>(_ file: URL) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(contentsOf: file))
  }
}
