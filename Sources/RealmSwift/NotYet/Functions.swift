/// The functions of an app's server, called by their names.
@available(
  *, unavailable,
  message:
    "Functions of the server are not there yet. Write an object to a synced realm, and let a program of yours that logs in with an API key observe it and answer."
)
@dynamicMemberLookup
public struct Functions: Sendable {
  public typealias FunctionCompletionHandler = @Sendable (AnyBSON?, (any Error)?) -> Void
  public typealias Function = @Sendable ([AnyBSON], @escaping FunctionCompletionHandler) -> Void
  public typealias ResultFunctionCompletionHandler = @Sendable (Result<AnyBSON, any Error>) -> Void
  public typealias ResultFunction = @Sendable ([AnyBSON], @escaping ResultFunctionCompletionHandler) -> Void

  public subscript(dynamicMember name: String) -> Function { unavailable() }
  public subscript(dynamicMember name: String) -> ResultFunction { unavailable() }
  public subscript(dynamicMember name: String) -> FunctionCallable { unavailable() }
}

/// A function of an app's server.
@available(
  *, unavailable,
  message:
    "Functions of the server are not there yet. Write an object to a synced realm, and let a program of yours that logs in with an API key observe it and answer."
)
@dynamicCallable
public struct FunctionCallable: Sendable {
  public func dynamicallyCall(withArguments arguments: [[AnyBSON]]) async throws -> AnyBSON { unavailable() }
  public func dynamicallyCall(withArguments arguments: [AnyBSON]) async throws -> AnyBSON { unavailable() }
}

extension User {
  @available(
    *, unavailable,
    message:
      "User.functions is not there yet. Write an object to a synced realm, and let a program of yours that logs in with an API key observe it and answer."
  )
  public var functions: Functions { unavailable() }
}
