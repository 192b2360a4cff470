import Accounts
import Foundation
import Front
import RealmInterchange
import RealmServer

/// Answers requests on a port of their own: `/health`, `/metrics`, and the requests of administrators.
struct Monitor: HTTPService {
  let apps: [ServedApp]
  let administration: Administration
  /// The token that requests of administrators have to carry.
  let token: String

  func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch (request.method, request.path) {
    case ("GET", ["health"]): return await health()
    case ("GET", ["metrics"]): return await metrics()
    case ("POST", ["administration"]):
      guard let given = request.bearer, SecretComparison.areEqual(given, token) else {
        return .text("The token is not the one that stands in administration.json.", status: 401)
      }
      guard let asked = try? JSONDecoder.decode(AdministrationRequest.self, fromOthers: Data(request.body))
      else {
        return .text("The request is not known. Use the tool of the same version as the server.", status: 400)
      }
      return .json(await administration.perform(asked))
    default: return .text("There is /health and /metrics here.", status: 404)
    }
  }

  private struct Health: Encodable {
    var apps: [String: String]
  }

  /// Answers 200 if all apps go on, and else 503. The answer says for each app that it goes on, or what is wrong.
  private func health() async -> HTTPResponse {
    var health = Health(apps: [:])
    var isGood = true
    for app in apps {
      let problem = await app.worker.health().problem
      health.apps[app.id] = problem ?? "goes on"
      if problem != nil { isGood = false }
    }
    return .json(health, status: isGood ? 200 : 503)
  }

  /// Answers the figures of all apps in the text format of Prometheus.
  private func metrics() async -> HTTPResponse {
    var all: [Metric] = []
    func add(_ name: String, _ help: String, _ app: ServedApp, _ value: Double, _ more: String = "") {
      if !all.contains(where: { $0.name == name }) { all.append(Metric(name: name, help: help)) }
      guard let place = all.firstIndex(where: { $0.name == name }) else { return }
      all[place].values.append(("app=\"\(app.id)\"\(more)", value))
    }
    for app in apps {
      let health = await app.worker.health()
      add("up", "1 where the app goes on.", app, health.problem == nil ? 1 : 0)
      guard let figures = health.figures else { continue }
      add("log_end", "The version of the last change that has come.", app, Double(figures.end))
      add(
        "log_applied", "The version of the last change that is integrated.", app, Double(figures.integrated))
      add("history_begin", "The history begins behind this version.", app, Double(figures.horizon))
      add(
        "oldest_cursor", "The oldest version that the file of a client stands at.", app,
        Double(figures.oldestCursor),
        figures.oldestReplica.map { ",replica=\"\($0)\",user=\"\(figures.oldestUser ?? "")\"" } ?? "")
      add("replicas", "Files of clients that are not given up.", app, Double(figures.replicas))
      add("connections", "Open WebSockets.", app, Double(figures.connections))
      add("channels", "Files that are connected.", app, Double(figures.channels))
      add(
        "unrouted_sessions", "Connected files whose queries are compared with each change.", app,
        Double(figures.unroutedSessions))
      add(
        "unsent_bytes", "Bytes that were made for clients and not taken by them yet.", app,
        Double(figures.unsentBytes))
      add("file_bytes", "The size of the app's file.", app, Double(figures.fileBytes))
      add("history_bytes", "The size of the history in that file, about.", app, Double(figures.historyBytes))
      add(
        "history_cuts", "How often since the start the history was cut since it had reached its limit.", app,
        Double(figures.historyCuts))
      for cause in ResetCause.allCases {
        guard let count = health.resets[cause] else { continue }
        add(
          "resets", "Files that were reset since the start, by the cause.", app, Double(count),
          ",cause=\"\(cause.rawValue)\"")
      }
      for (reason, count) in figures.refusals.sorted(by: { $0.key < $1.key }) {
        add(
          "refusals", "What was refused since the start, by the reason.", app, Double(count),
          ",reason=\"\(reason)\"")
      }
    }
    return .text(all.map(\.text).joined())
  }

  private struct Metric {
    let name: String
    let help: String
    var values: [(labels: String, value: Double)] = []

    var text: String {
      let name = "realm_server_" + name
      let lines = values.map { "\(name){\($0.labels)} \(Int64($0.value))\n" }
      return "# HELP \(name) \(help)\n# TYPE \(name) gauge\n" + lines.joined()
    }
  }
}
