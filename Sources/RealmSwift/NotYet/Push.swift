/// Registers devices for messages of an app's server.
@available(
  *, unavailable,
  message: "PushClient is not there yet. Register the device with a push service of your own."
)
public final class PushClient: Sendable {
  public var serviceName: String { unavailable() }

  public func registerDevice(
    token: String, user: User, completion: @escaping @Sendable ((any Error)?) -> Void
  ) { unavailable() }
  public func registerDevice(token: String, user: User) async throws { unavailable() }
  public func deregisterDevice(user: User, completion: @escaping @Sendable ((any Error)?) -> Void) {
    unavailable()
  }
  public func deregisterDevice(user: User) async throws { unavailable() }
}

extension App {
  @available(
    *, unavailable,
    message: "App.pushClient is not there yet. Register the device with a push service of your own."
  )
  public func pushClient(serviceName: String) -> PushClient { unavailable() }
}
