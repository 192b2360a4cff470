import RealmSwift

/// What a person might ask of a package catalogue.
struct Questions {
  let realm: Realm

  func askAll() {
    let packages = realm.objects(Package.self)
    ask("The largest packages") {
      packages.sorted(by: \.installedSize, ascending: false).prefix(5)
        .map { "\($0.name), \($0.installedSize / 1024) MiB" }
    }
    ask("Most depended upon") {
      var counts: [(package: Package, count: Int)] = []
      for package in packages { counts.append((package, package.dependents.count)) }
      return counts.sorted { $0.count > $1.count }.prefix(5)
        .map { "\($0.package.name), by \($0.count) packages" }
    }
    ask("Who looks after most packages") {
      realm.objects(Maintainer.self).map { ($0.name, $0.packages.count) }.sorted { $0.1 > $1.1 }.prefix(3)
        .map { "\($0.0), \($0.1)" }
    }
    ask("Packages of one of them that are over 50 MiB") {
      let name = "Debian GCC Maintainers"
      let found = packages.where { $0.maintainer.name == name && $0.installedSize > 50 << 10 }
      return ["\(found.count) of \(name)"] + found.prefix(3).map(\.name)
    }
    ask("\"database\" in descriptions") {
      let found = packages.where {
        $0.summary.contains("database", options: .caseInsensitive)
          || $0.details.contains("database", options: .caseInsensitive)
      }
      return ["\(found.count) packages"] + found.prefix(3).map { "\($0.name): \($0.summary)" }
    }
    ask("What bash needs, and what needs bash") {
      guard let bash = realm.object(ofType: Package.self, forPrimaryKey: "bash") else {
        return ["no bash here"]
      }
      return [
        "it needs " + bash.dependencies.map(\.name).joined(separator: ", "),
        "\(bash.dependents.count) packages need it",
      ]
    }
    ask("The database section") {
      let section = packages.where { $0.section == "database" }
      let average: Double = section.average(ofProperty: "installedSize") ?? 0
      return [
        "\(section.count) packages, \(section.sum(of: \.downloadSize) >> 20) MiB to download, "
          + "\(Int(average)) KiB installed on average"
      ]
    }
    ask("Leaves: packages that need nothing") {
      ["\(packages.where { $0.dependencies.count == 0 }.count) of \(packages.count)"]
    }
  }

  private func ask(_ question: String, _ answer: () -> [String]) {
    var lines: [String] = []
    let time = ContinuousClock().measure { lines = answer() }
    print("\n\(question)? (\(milliseconds(time)))")
    for line in lines { print("  \(line)") }
  }
}

func milliseconds(_ time: Duration) -> String {
  let tenths = Int((time / .microseconds(100)).rounded())
  return "\(tenths / 10).\(tenths % 10) ms"
}
