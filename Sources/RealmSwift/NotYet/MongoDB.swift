extension User {
  @available(
    *, unavailable,
    message:
      "User.mongoClient is not there yet. Open a synced realm with User.flexibleSyncConfiguration, and use its objects."
  )
  public func mongoClient(_ serviceName: String) -> MongoClient { unavailable() }
}

/// A MongoDB service of an app's server.
@available(
  *, unavailable,
  message:
    "MongoClient is not there yet. Open a synced realm with User.flexibleSyncConfiguration, and use its objects."
)
public final class MongoClient: Sendable {
  public var name: String { unavailable() }
  public func database(named name: String) -> MongoDatabase { unavailable() }
}

/// A database of a MongoDB service.
@available(
  *, unavailable,
  message:
    "MongoDatabase is not there yet. Open a synced realm with User.flexibleSyncConfiguration, and use its objects."
)
public final class MongoDatabase: Sendable {
  public var name: String { unavailable() }
  public func collection(withName name: String) -> MongoCollection { unavailable() }
}

/// Options for finding documents.
@available(
  *, unavailable,
  message: "FindOptions is not there yet. Use `sorted(by:)` and `prefix` of the results of a realm."
)
public final class FindOptions {
  public var limit = 0
  public var projection: Document?
  public var sorting: [Document] = []

  public init(_ limit: Int = 0, _ projection: Document? = nil, _ sorting: [Document] = []) { unavailable() }
}

/// Options for finding and changing a document.
@available(
  *, unavailable,
  message: "FindOneAndModifyOptions is not there yet. Find objects and change them in a `write` of a realm."
)
public final class FindOneAndModifyOptions {
  public var projection: Document?
  public var sorting: [Document] = []
  public var upsert = false
  public var shouldReturnNewDocument = false

  public init(
    _ projection: Document? = nil, _ sorting: [Document] = [], _ upsert: Bool = false,
    _ shouldReturnNewDocument: Bool = false
  ) { unavailable() }
}

/// The numbers of documents that an update has found and changed.
@available(
  *, unavailable,
  message: "UpdateResult is not there yet. Find objects and change them in a `write` of a realm."
)
public final class UpdateResult: Sendable {
  public var matchedCount: Int { unavailable() }
  public var modifiedCount: Int { unavailable() }
  public var documentId: AnyBSON? { unavailable() }
}

@available(*, unavailable, message: "MongoInsertBlock is not there yet. Add objects to a synced realm.")
public typealias MongoInsertBlock = @Sendable (Result<AnyBSON, any Error>) -> Void
@available(*, unavailable, message: "MongoInsertManyBlock is not there yet. Add objects to a synced realm.")
public typealias MongoInsertManyBlock = @Sendable (Result<[AnyBSON], any Error>) -> Void
@available(*, unavailable, message: "MongoFindBlock is not there yet. Query the objects of a synced realm.")
public typealias MongoFindBlock = @Sendable (Result<[Document], any Error>) -> Void
@available(
  *, unavailable, message: "MongoFindOneBlock is not there yet. Query the objects of a synced realm."
)
public typealias MongoFindOneBlock = @Sendable (Result<Document?, any Error>) -> Void
@available(*, unavailable, message: "MongoCountBlock is not there yet. Count the objects of a synced realm.")
public typealias MongoCountBlock = @Sendable (Result<Int, any Error>) -> Void
@available(
  *, unavailable, message: "MongoUpdateBlock is not there yet. Change the objects of a synced realm."
)
public typealias MongoUpdateBlock = @Sendable (Result<UpdateResult, any Error>) -> Void
