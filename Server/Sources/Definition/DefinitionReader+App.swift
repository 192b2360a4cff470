import Yams

extension DefinitionReader {
  private static let keys = [
    "id", "development", "partition", "fields", "rights", "providers", "email", "maximum-offline-time",
    "limits",
  ]

  /// Reads the definition. The result must not be used if there are problems.
  mutating func app(_ check: AppDefinition.PredicateCheck) -> AppDefinition {
    var app = AppDefinition(id: "")
    var count = problems.found.count
    guard let entries = entries(document.root, "The definition", "key") else { return app }
    let known = known(entries, Self.keys, "The definition", "key")
    // An unknown key may be a misspelt `fields`.
    let areKeysKnown = problems.found.count == count
    if let entry = known["id"] {
      app.id = id(entry.value) ?? app.id
    } else {
      problems.add(at: Place(document.root), "The app has no id.", "Add a line such as `id: tasks`.")
    }
    if let entry = known["development"] {
      app.isDevelopment = flag(entry.value, "'development'") ?? app.isDevelopment
    }
    count = problems.found.count
    if let entry = known["partition"] { app.partition = name(entry.value, "'partition'") }
    if let entry = known["fields"] { app.fields = fields(entry.value, app.partition) }
    let areFieldsKnown = areKeysKnown && problems.found.count == count
    if let entry = known["rights"] {
      if app.isDevelopment {
        problems.add(
          at: entry.place, "Rights are ignored in development, where every user may do everything.",
          "Remove 'rights', or write `development: false`.")
      }
      app.rights = rights(entry.value, app, areFieldsKnown: areFieldsKnown, check)
    }
    if let entry = known["providers"] { app.providers = providers(entry.value) }
    if let entry = known["email"] { app.email = email(entry.value) }
    if let entry = known["maximum-offline-time"] {
      app.maximumOfflineTime =
        amount(entry.value, "'maximum-offline-time'", .time, in: 60...36_500 * 86_400)
        ?? app.maximumOfflineTime
    }
    if let entry = known["limits"] { app.limits = limits(entry.value) }
    return app
  }

  private mutating func id(_ node: Node) -> String? {
    let remedy = "Write 1 to 64 of a-z, A-Z, 0-9, - and _."
    guard let text = text(node, "'id'", remedy) else { return nil }
    let isGood = text.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
      default: false
      }
    }
    guard isGood, (1...64).contains(text.utf8.count) else {
      refuse(node, "'id'", remedy)
      return nil
    }
    return text
  }

  private mutating func providers(_ node: Node) -> Set<AppDefinition.Provider> {
    let names = AppDefinition.Provider.allCases.map(\.rawValue)
    let remedy = "Write a list of providers, such as [\(names.joined(separator: ", "))]."
    var providers: Set<AppDefinition.Provider> = []
    for node in list(node, "'providers'", remedy) ?? [] {
      guard let name = text(node, "A provider", remedy) else { continue }
      guard let provider = AppDefinition.Provider(rawValue: name) else {
        problems.add(
          at: Place(node), "There is no provider named \(Wording.shown(name)).",
          Self.choice(name, names, "Providers"))
        continue
      }
      if !providers.insert(provider).inserted {
        problems.add(at: Place(node), "The provider '\(name)' stands twice.", "Remove one of them.")
      }
    }
    return providers
  }

  private mutating func limits(_ node: Node) -> AppDefinition.Limits {
    typealias Limits = AppDefinition.Limits
    let counts: [(String, WritableKeyPath<Limits, Int>)] = [
      ("replicas-per-user", \.replicasPerUser), ("connections", \.connections),
      ("connections-per-user", \.connectionsPerUser),
    ]
    var limits = Limits()
    guard let entries = entries(node, "'limits'", "limit") else { return limits }
    let known = known(entries, counts.map(\.0) + ["data", "history"], "'limits'", "limit")
    for (name, path) in counts {
      guard let entry = known[name] else { continue }
      if let count = count(entry.value, "'\(name)'", in: 1...1_000_000) { limits[keyPath: path] = count }
    }
    let sizes = 1 << 20...1 << 50
    if let entry = known["data"], let size = amount(entry.value, "'data'", .size, in: sizes) {
      limits.data = size
    }
    if let entry = known["history"] { limits.history = amount(entry.value, "'history'", .size, in: sizes) }
    return limits
  }
}
