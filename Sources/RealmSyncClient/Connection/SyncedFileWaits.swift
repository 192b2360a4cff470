/// The waits for something of a session. Each wait has a number, by which it can be withdrawn.
struct SyncedFileWaits {
  typealias Body = @Sendable (SyncedFileProblem?) -> Void
  typealias QuerySetBody = @Sendable (Result<Bool, SyncedFileProblem>) -> Void

  private struct Upload {
    let id: UInt64
    /// The sequence up to which the changesets have to be decided.
    let last: UInt64
    let body: Body
  }

  private struct Download {
    let id: UInt64
    let body: Body
    /// The number of the mark that was sent to the server in this session; nil if none was sent.
    var request: UInt64?
    /// The version at which the log ended then; nil before the answer.
    var version: UInt64?
  }

  private struct ForQuerySet {
    let id: UInt64
    let number: UInt64
    let body: QuerySetBody
  }

  private var uploads: [Upload] = []
  private var downloads: [Download] = []
  private var forQuerySets: [ForQuerySet] = []
  private var lastRequest: UInt64 = 0

  var count: Int { uploads.count + downloads.count + forQuerySets.count }

  /// The numbers of the query sets for which there are waits.
  var querySets: [UInt64] { forQuerySets.map(\.number) }

  // MARK: - Adding

  mutating func addUpload(_ id: UInt64, upTo last: UInt64, _ body: @escaping Body) {
    uploads.append(Upload(id: id, last: last, body: body))
  }

  mutating func addDownload(_ id: UInt64, _ body: @escaping Body) {
    downloads.append(Download(id: id, body: body))
  }

  mutating func addQuerySet(_ id: UInt64, _ number: UInt64, _ body: @escaping QuerySetBody) {
    forQuerySets.append(ForQuerySet(id: id, number: number, body: body))
  }

  /// Removes a wait.
  mutating func withdraw(_ id: UInt64) {
    uploads.removeAll { $0.id == id }
    downloads.removeAll { $0.id == id }
    forQuerySets.removeAll { $0.id == id }
  }

  // MARK: - Taking

  mutating func takeUploads(before pending: UInt64) -> [Body] {
    let taken = uploads.filter { $0.last < pending }
    uploads.removeAll { $0.last < pending }
    return taken.map(\.body)
  }

  mutating func takeQuerySets(upTo number: UInt64) -> [(isShown: Bool, body: QuerySetBody)] {
    let taken = forQuerySets.filter { $0.number <= number }
    forQuerySets.removeAll { $0.number <= number }
    return taken.map { ($0.number == number, $0.body) }
  }

  mutating func takeQuerySet(_ number: UInt64) -> [QuerySetBody] {
    let taken = forQuerySets.filter { $0.number == number }
    forQuerySets.removeAll { $0.number == number }
    return taken.map(\.body)
  }

  /// The numbers of the marks that have to be sent now.
  mutating func unasked() -> [UInt64] {
    var requests: [UInt64] = []
    for index in downloads.indices where downloads[index].request == nil {
      lastRequest += 1
      downloads[index].request = lastRequest
      requests.append(lastRequest)
    }
    return requests
  }

  /// Forgets the marks that were sent, because another session begins, perhaps with another server.
  mutating func forgetAsked() {
    for index in downloads.indices { (downloads[index].request, downloads[index].version) = (nil, nil) }
  }

  /// Notes the version at which the log ended when it was asked for.
  ///
  /// - Returns: the bodies of the downloads that are complete at the version of the file.
  mutating func take(mark request: UInt64, _ version: UInt64, at current: UInt64) -> [Body] {
    for index in downloads.indices where downloads[index].request == request {
      downloads[index].version = version
    }
    return takeDownloads(upTo: current)
  }

  mutating func takeDownloads(upTo current: UInt64) -> [Body] {
    func isDone(_ download: Download) -> Bool { download.version.map { $0 <= current } ?? false }
    let taken = downloads.filter(isDone)
    downloads.removeAll(where: isDone)
    return taken.map(\.body)
  }

  mutating func takeAllDownloads() -> [Body] {
    defer { downloads = [] }
    return downloads.map(\.body)
  }

  mutating func removeAll() -> [Body] {
    var calls = uploads.map(\.body) + downloads.map(\.body)
    for wait in forQuerySets { calls.append { wait.body(.failure($0 ?? .stopped)) } }
    (uploads, downloads, forQuerySets) = ([], [], [])
    return calls
  }
}
