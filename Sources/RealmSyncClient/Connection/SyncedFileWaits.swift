/// What waits for something of a session.
struct SyncedFileWaits {
  typealias Body = @Sendable (SyncedFileProblem?) -> Void
  typealias QuerySetBody = @Sendable (Result<Bool, SyncedFileProblem>) -> Void

  /// For the changesets up to a sequence to be decided.
  var uploads: [(last: UInt64, body: Body)] = []
  /// For query sets, by their numbers.
  var querySets: [(number: UInt64, body: QuerySetBody)] = []
  private var downloads: [Download] = []
  private var lastRequest: UInt64 = 0

  private struct Download {
    let body: Body
    /// The server was asked where its log ends, in this session.
    var request: UInt64?
    /// That was at this version.
    var version: UInt64?
  }

  mutating func takeUploads(before pending: UInt64) -> [Body] {
    let taken = uploads.filter { $0.last < pending }
    uploads.removeAll { $0.last < pending }
    return taken.map(\.body)
  }

  mutating func takeQuerySets(upTo number: UInt64) -> [(isShown: Bool, body: QuerySetBody)] {
    let taken = querySets.filter { $0.number <= number }
    querySets.removeAll { $0.number <= number }
    return taken.map { ($0.number == number, $0.body) }
  }

  mutating func takeQuerySet(_ number: UInt64) -> [QuerySetBody] {
    let taken = querySets.filter { $0.number == number }
    querySets.removeAll { $0.number == number }
    return taken.map(\.body)
  }

  mutating func addDownload(_ body: @escaping Body) { downloads.append(Download(body: body)) }

  /// Numbers for marks that are to be asked for now.
  mutating func unasked() -> [UInt64] {
    var requests: [UInt64] = []
    for index in downloads.indices where downloads[index].request == nil {
      lastRequest += 1
      downloads[index].request = lastRequest
      requests.append(lastRequest)
    }
    return requests
  }

  /// Another session begins, perhaps with another server.
  mutating func forgetAsked() {
    for index in downloads.indices { (downloads[index].request, downloads[index].version) = (nil, nil) }
  }

  /// The log ended at a version when it was asked for.
  ///
  /// - Returns: what has all that it waited for, where the file has a version.
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
    for (_, body) in querySets { calls.append { body(.failure($0 ?? .stopped)) } }
    (uploads, downloads, querySets) = ([], [], [])
    return calls
  }
}
