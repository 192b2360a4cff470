import Dispatch
import Foundation
import RealmSwift
import SyncPrograms

/// Notes when it is told of changes of a number. At an order, which is a number, it waits until it is told of that, and writes down what it has noted.
@MainActor
final class Observer {
  struct Arrival: Codable, Sendable {
    /// The observer has seen this number, and so all before it.
    let number: Int
    /// In nanoseconds of the machine's uptime: all programs of a machine read the same clock.
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
