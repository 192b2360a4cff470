import Dispatch
import Foundation
import RealmSwift
import SyncPrograms

/// Notes when it hears of changes of a number. An order is a number: the observer waits until it hears of that number,
/// and writes its notes to a file.
@MainActor
final class Observer {
  struct Arrival: Codable, Sendable {
    /// The number that the observer has seen. It has also seen all earlier numbers.
    let number: Int
    /// The nanoseconds of the machine's uptime. All programs of a machine read the same clock.
    let time: UInt64
  }

  private let options: ClientOptions
  private var arrivals: [Arrival] = []

  /// The name of the file in the client's folder that has the arrivals.
  nonisolated static let file = "arrivals.json"

  init(_ options: ClientOptions) { self.options = options }

  func run() async throws {
    let device = Device(options)
    let user = try await device.app.login(credentials: .anonymous)
    let (realm, _) = try await device.open(user, options.content)
    guard let counter = realm.object(ofType: Counter.self, forPrimaryKey: Counter.shared) else {
      fail("The number that is to be observed has not come.")
    }
    let token = counter.observe { [weak self] change in
      switch change {
      case .change(let counter, _): self?.see(counter.number)
      case .deleted: fail("The number that is observed was deleted.")
      case .error(let error): fail(error.localizedDescription)
      }
    }
    say("ready")
    while true {
      let order = await Orders.next()
      guard let number = Int(order) else { fail("An observer takes no such order.") }
      while arrivals.last?.number ?? 0 < number { try await Task.sleep(for: .milliseconds(5)) }
      try JSONEncoder().encode(arrivals)
        .write(to: URL(fileURLWithPath: options.folder).appending(path: Self.file))
      say("seen")
      withExtendedLifetime(token) {}
    }
  }

  private func see(_ number: Int) {
    arrivals.append(Arrival(number: number, time: DispatchTime.now().uptimeNanoseconds))
  }
}
