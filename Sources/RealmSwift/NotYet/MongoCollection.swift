public import Dispatch

/// A collection of documents of a MongoDB service.
@available(
  *, unavailable,
  message:
    "MongoCollection is not there yet. Open a synced realm with User.flexibleSyncConfiguration, and use its objects."
)
public final class MongoCollection: Sendable {
  public var name: String { unavailable() }

  // MARK: - With completion blocks

  public func insertOne(_ value: Document, _ completion: @escaping MongoInsertBlock) { unavailable() }
  public func insertMany(_ values: [Document], _ completion: @escaping MongoInsertManyBlock) {
    unavailable()
  }
  public func find(
    filter: Document, options: FindOptions = FindOptions(), _ completion: @escaping MongoFindBlock
  ) { unavailable() }
  public func findOneDocument(
    filter: Document, options: FindOptions = FindOptions(), _ completion: @escaping MongoFindOneBlock
  ) { unavailable() }
  public func aggregate(pipeline: [Document], _ completion: @escaping MongoFindBlock) { unavailable() }
  public func count(filter: Document, limit: Int? = nil, _ completion: @escaping MongoCountBlock) {
    unavailable()
  }
  public func deleteOneDocument(filter: Document, _ completion: @escaping MongoCountBlock) { unavailable() }
  public func deleteManyDocuments(filter: Document, _ completion: @escaping MongoCountBlock) {
    unavailable()
  }
  public func updateOneDocument(
    filter: Document, update: Document, upsert: Bool = false, _ completion: @escaping MongoUpdateBlock
  ) { unavailable() }
  public func updateManyDocuments(
    filter: Document, update: Document, upsert: Bool = false, _ completion: @escaping MongoUpdateBlock
  ) { unavailable() }
  public func findOneAndUpdate(
    filter: Document, update: Document, options: FindOneAndModifyOptions = FindOneAndModifyOptions(),
    _ completion: @escaping MongoFindOneBlock
  ) { unavailable() }
  public func findOneAndReplace(
    filter: Document, replacement: Document, options: FindOneAndModifyOptions = FindOneAndModifyOptions(),
    _ completion: @escaping MongoFindOneBlock
  ) { unavailable() }
  public func findOneAndDelete(
    filter: Document, options: FindOneAndModifyOptions = FindOneAndModifyOptions(),
    _ completion: @escaping MongoFindOneBlock
  ) { unavailable() }

  // MARK: - In async functions

  public func insertOne(_ value: Document) async throws -> AnyBSON { unavailable() }
  public func insertMany(_ values: [Document]) async throws -> [AnyBSON] { unavailable() }
  public func find(
    filter: Document, options: FindOptions? = nil, _isolation: isolated (any Actor)? = #isolation
  ) async throws -> [Document] { unavailable() }
  public func findOneDocument(
    filter: Document, options: FindOptions? = nil, _isolation: isolated (any Actor)? = #isolation
  ) async throws -> Document? { unavailable() }
  public func aggregate(pipeline: [Document]) async throws -> [Document] { unavailable() }
  public func count(filter: Document, limit: Int? = nil) async throws -> Int { unavailable() }
  public func deleteOneDocument(filter: Document) async throws -> Int { unavailable() }
  public func deleteManyDocuments(filter: Document) async throws -> Int { unavailable() }
  public func updateOneDocument(
    filter: Document, update: Document, upsert: Bool? = nil
  ) async throws -> UpdateResult { unavailable() }
  public func updateManyDocuments(
    filter: Document, update: Document, upsert: Bool? = nil
  ) async throws -> UpdateResult { unavailable() }
  public func findOneAndUpdate(
    filter: Document, update: Document, options: FindOneAndModifyOptions? = nil,
    _isolation: isolated (any Actor)? = #isolation
  ) async throws -> Document? { unavailable() }
  public func findOneAndReplace(
    filter: Document, replacement: Document, options: FindOneAndModifyOptions? = nil,
    _isolation: isolated (any Actor)? = #isolation
  ) async throws -> Document? { unavailable() }
  public func findOneAndDelete(
    filter: Document, options: FindOneAndModifyOptions? = nil,
    _isolation: isolated (any Actor)? = #isolation
  ) async throws -> Document? { unavailable() }

  // MARK: - Watching

  public func watch(delegate: any ChangeEventDelegate, queue: DispatchQueue = .main) -> ChangeStream {
    unavailable()
  }
  public func watch(
    matchFilter: Document, delegate: any ChangeEventDelegate, queue: DispatchQueue = .main
  ) -> ChangeStream { unavailable() }
  public func watch(
    filterIds: [ObjectId], delegate: any ChangeEventDelegate, queue: DispatchQueue = .main
  ) -> ChangeStream { unavailable() }
}

/// A stream of the changes of a collection of documents.
@available(
  *, unavailable,
  message: "ChangeStream is not there yet. Observe the results of a synced realm."
)
public final class ChangeStream: Sendable {
  public func close() { unavailable() }
}

/// Receives the changes of a collection of documents.
@available(
  *, unavailable,
  message: "ChangeEventDelegate is not there yet. Observe the results of a synced realm."
)
public protocol ChangeEventDelegate: AnyObject {
  func changeStreamDidOpen(_ changeStream: ChangeStream)
  func changeStreamDidClose(with error: (any Error)?)
  func changeStreamDidReceive(error: any Error)
  func changeStreamDidReceive(changeEvent: AnyBSON?)
}
