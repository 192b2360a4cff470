// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "realm-benchmarks",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "realm-bench", targets: ["RealmBench"]),
    .executable(name: "live-bench", targets: ["LiveBench"]),
    .executable(name: "migration-bench", targets: ["MigrationBench"]),
    .executable(name: "sync-chart", targets: ["SyncChart"]),
  ],
  dependencies: [
    .package(name: "realm-swift", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(
      name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"]), .brew(["lmdb"])]),
    .target(name: "ChartParts", swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "RealmBench",
      dependencies: [
        "ChartParts", "CSQLite", "CLMDB",
        .product(name: "RealmQuery", package: "realm-swift"),
        .product(name: "RealmStorage", package: "realm-swift"),
        .product(name: "RealmSwift", package: "realm-swift"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ]),
    .executableTarget(
      name: "SyncChart", dependencies: ["ChartParts"],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ]),
    .executableTarget(
      name: "MigrationBench",
      dependencies: [
        .product(name: "RealmStorage", package: "realm-swift"),
        .product(name: "RealmSwift", package: "realm-swift"),
      ],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ]),
    .executableTarget(
      name: "LiveBench", dependencies: ["ChartParts", .product(name: "RealmSwift", package: "realm-swift")],
      swiftSettings: [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
      ]),
  ]
)
