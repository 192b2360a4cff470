import RealmSwift

/// Makes objects of a control file and adds them to a realm.
struct Loader {
  private var packages: [String: Package] = [:]
  private var maintainers: [String: Maintainer] = [:]
  /// In the order of the input.
  private var order: [Package] = []
  private var dependencies: [(package: Package, fields: [String])] = []

  /// The objects of the input, linked to one another and not in a realm yet.
  init(_ input: String, progress: inout Progress) {
    var file = ControlFile(input)
    while let fields = file.next() {
      take(fields)
      progress.show(file.bytesRead)
    }
    link()
  }

  private mutating func take(_ fields: [String: String]) {
    // A package may be listed in several versions; the newest comes first.
    guard let name = fields["Package"], packages[name] == nil else { return }
    let package = Package()
    package.name = name
    package.version = fields["Version"] ?? ""
    package.section = fields["Section"] ?? "unknown"
    package.priority = fields["Priority"].flatMap { Priority(rawValue: $0) } ?? .optional
    package.installedSize = fields["Installed-Size"].flatMap { Int($0) } ?? 0
    package.downloadSize = fields["Size"].flatMap { Int($0) } ?? 0
    package.homepage = fields["Homepage"]
    let description = fields["Description"] ?? ""
    let firstLine = description.prefix { $0 != "\n" }
    package.summary = String(firstLine)
    if firstLine.endIndex < description.endIndex {
      package.details = String(description[firstLine.endIndex...].dropFirst())
    }
    if let tags = fields["Tag"] {
      package.tags.append(objectsIn: tags.split { $0 == "," || $0 == "\n" || $0 == " " }.map { String($0) })
    }
    package.maintainer = fields["Maintainer"].map { maintainer($0) }
    packages[name] = package
    order.append(package)
    dependencies.append((package, ["Pre-Depends", "Depends"].compactMap { fields[$0] }))
  }

  /// The maintainer of a field like "Ann Example <ann@example.org>".
  private mutating func maintainer(_ field: String) -> Maintainer {
    let parts = field.split(separator: "<", maxSplits: 1)
    var name = String(parts.first ?? "")
    while name.last == " " { name.removeLast() }
    if let known = maintainers[name] { return known }
    let made = Maintainer()
    made.name = name
    made.email = parts.count > 1 ? String(parts[1].prefix { $0 != ">" }) : nil
    maintainers[name] = made
    return made
  }

  private func link() {
    for (package, fields) in dependencies {
      var names = Set<String>()
      for alternatives in fields.flatMap({ DependencyField($0).alternatives }) {
        guard let name = alternatives.first(where: { packages[$0] != nil }), let found = packages[name],
          names.insert(name).inserted
        else { continue }
        package.dependencies.append(found)
      }
    }
  }

  var count: Int { order.count }

  /// Adds the packages, and all they link to, in one transaction: all of them are there, or none.
  func add(to realm: Realm, progress: inout Progress) throws {
    realm.beginWrite()
    for (number, package) in order.enumerated() {
      realm.add(package)
      progress.show(number)
    }
    try realm.commitWrite()
  }
}
