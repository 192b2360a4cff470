/// Records which objects a program reads and writes.
@available(
  *, unavailable,
  message:
    "Events is not there yet: nothing is recorded by itself. Add objects of a class of your own that tell what was done."
)
public struct Events {
  public func beginScope(activity: String) -> Scope { unavailable() }
  public func recordEvent(
    activity: String, eventType: String? = nil, data: String? = nil,
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) { unavailable() }
  public func updateMetadata(_ metadata: [String: String]) { unavailable() }

  public final class Scope {
    public func commit(completion: (@Sendable ((any Error)?) -> Void)? = nil) { unavailable() }
    public func cancel() { unavailable() }
    public var isActive: Bool { unavailable() }
  }
}

/// The settings with which a realm records its use.
@available(
  *, unavailable,
  message:
    "EventConfiguration is not there yet: nothing is recorded by itself. Add objects of a class of your own that tell what was done."
)
public struct EventConfiguration: Sendable {
  public typealias LoggerFunction = @Sendable (SyncLogLevel, String) -> Void

  public var metadata: [String: String]?
  public var syncUser: User?
  public var partitionPrefix: String
  public var logger: LoggerFunction?
  public var errorHandler: (@Sendable (any Error) -> Void)?

  public init(
    metadata: [String: String]? = nil, syncUser: User? = nil, partitionPrefix: String = "",
    logger: LoggerFunction? = nil, errorHandler: (@Sendable (any Error) -> Void)? = nil
  ) { unavailable() }
}

/// An object that decides in which form it is recorded.
@available(
  *, unavailable,
  message:
    "CustomEventRepresentable is not there yet: nothing is recorded by itself. Add objects of a class of your own that tell what was done."
)
public protocol CustomEventRepresentable {
  func customEventRepresentation() -> String
}

extension Realm {
  @available(
    *, unavailable,
    message:
      "Realm.events is not there yet: nothing is recorded by itself. Add objects of a class of your own that tell what was done."
  )
  public var events: Events? { unavailable() }
}

extension Realm.Configuration {
  @available(
    *, unavailable,
    message:
      "eventConfiguration is not there yet: nothing is recorded by itself. Add objects of a class of your own that tell what was done."
  )
  public var eventConfiguration: EventConfiguration? {
    get { unavailable() }
    set { unavailable() }
  }
}
