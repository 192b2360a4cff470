// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableExperimentalFeature("Lifetimes"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]
/// `make test` builds the library with optimization, because its tests then take a third of the time. The package
/// manager regards the flag as unsafe, so a package that depends on this one never gets it.
let testedSettings: [SwiftSetting] =
  Context.environment["REALM_OPTIMIZED_TESTS"] == nil
  ? swiftSettings : swiftSettings + [.unsafeFlags(["-O", "-assert-config", "Debug"])]
let cSettings: [CSetting] = [.treatAllWarnings(as: .error)]
/// The packages that device sync needs to reach a server.
let network: [Target.Dependency] =
  ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOWebSocket"].map {
    .product(name: $0, package: "swift-nio", condition: .when(traits: ["Sync"]))
  } + [.product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Sync"]))]

let package = Package(
  name: "realm-swift",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .library(name: "RealmSwift", targets: ["RealmSwift", "Realm"]),
    .library(name: "RealmStorage", targets: ["RealmStorage"]),
    .library(name: "RealmQuery", targets: ["RealmQuery"]),
    // The package of the server uses these libraries.
    .library(name: "RealmInterchange", targets: ["RealmInterchange"]),
    .library(name: "RealmServer", targets: ["RealmServer"]),
    .library(name: "RealmWebSocket", targets: ["RealmWebSocket"]),
    .library(name: "CRealmSodium", targets: ["CRealmSodium"]),
    .library(name: "RealmFuzzSupport", targets: ["RealmFuzzSupport"]),
    .executable(name: "realm", targets: ["RealmTool"]),
  ],
  traits: [
    .default(enabledTraits: ["Sync"]),
    .trait(name: "Sync", description: "Device sync: log-in, and sessions with a server over the network."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
  ],
  targets: [
    // A package that depends on this one can't have modules with the same names as these targets. So the name of each
    // target that a product reaches contains the name of this project.
    .target(name: "CRealmPlatform", cSettings: cSettings),
    .target(name: "CRealmSQLite", cSettings: cSettings),
    .systemLibrary(
      name: "CRealmSodium", pkgConfig: "libsodium",
      providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
    .systemLibrary(
      name: "CRealmZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]),
    .target(
      name: "RealmStorage", dependencies: ["CRealmPlatform", "CRealmSodium", "CRealmZlib"],
      swiftSettings: testedSettings),
    .target(name: "RealmSync", dependencies: ["RealmStorage"], swiftSettings: testedSettings),
    // The target is empty without the trait.
    .target(
      name: "RealmWebSocket",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["Sync"]))
      ],
      swiftSettings: testedSettings),
    .target(
      name: "RealmSyncClient", dependencies: ["RealmStorage", "RealmSync", "RealmWebSocket"] + network,
      swiftSettings: testedSettings),
    .target(
      name: "RealmServer", dependencies: ["RealmQuery", "RealmStorage", "RealmSync"],
      swiftSettings: testedSettings),
    .target(name: "RealmQuery", dependencies: ["RealmStorage"], swiftSettings: testedSettings),
    .target(
      name: "RealmInterchange", dependencies: ["CRealmSQLite", "RealmStorage"], swiftSettings: testedSettings),
    .target(
      name: "RealmSwift",
      dependencies: [
        "CRealmPlatform", "RealmInterchange", "RealmQuery", "RealmStorage", "RealmSync", "RealmSyncClient",
      ],
      swiftSettings: testedSettings),
    // No product has this name, because on a file system that ignores case it would be the same file as the tool.
    .target(name: "Realm", dependencies: ["RealmSwift"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "RealmTool",
      dependencies: [
        "CRealmPlatform", "RealmInterchange", "RealmQuery", "RealmServer", "RealmStorage", "RealmSync",
        "RealmSyncClient", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: swiftSettings),
    .target(
      name: "RealmTestSupport", dependencies: ["RealmStorage"], path: "Tests/RealmTestSupport",
      swiftSettings: testedSettings),
    .target(
      name: "RealmSyncSupport",
      dependencies: ["RealmServer", "RealmStorage", "RealmSync", "RealmSyncClient", "RealmTestSupport"],
      path: "Tests/RealmSyncSupport", swiftSettings: testedSettings),
    .executableTarget(
      name: "sync-run",
      dependencies: [
        "RealmServer", "RealmStorage", "RealmSync", "RealmSyncClient", "RealmSyncSupport", "RealmTestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/SyncRun", swiftSettings: swiftSettings),
    .executableTarget(
      name: "api-coverage",
      dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Tests/ApiCoverage", exclude: ["run.sh", "surface.tsv"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "crash-run",
      dependencies: [
        "RealmServer", "RealmStorage", "RealmSync", "RealmSyncClient", "RealmSyncSupport", "RealmTestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/CrashRun", swiftSettings: swiftSettings),
    .target(
      name: "RealmFuzzSupport",
      dependencies: [
        "CRealmAllocations", "RealmTestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/RealmFuzzSupport", swiftSettings: testedSettings),
    .executableTarget(
      name: "fuzz-run",
      dependencies: [
        "RealmFuzzSupport", "RealmQuery", "RealmServer", "RealmStorage", "RealmSwift", "RealmSync",
        "RealmSyncClient", "RealmSyncSupport", "RealmTestSupport", "RealmWebSocket",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ] + network,
      path: "Tests/FuzzRun", swiftSettings: swiftSettings),
    .executableTarget(
      name: "processes-run",
      dependencies: [
        "RealmServer", "RealmStorage", "RealmSwift", "RealmSync", "RealmSyncClient", "RealmSyncSupport",
        "RealmTestSupport", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/ProcessesRun", swiftSettings: swiftSettings),
    .target(name: "CRealmAllocations", path: "Tests/CRealmAllocations", cSettings: cSettings),
    .executableTarget(
      name: "allocation-run", dependencies: ["CRealmAllocations", "RealmSwift"], path: "Tests/AllocationRun",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "engine-in-ten-lines", dependencies: ["RealmStorage"], path: "Examples/EngineInTenLines",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "first-objects", dependencies: ["RealmSwift"], path: "Examples/FirstObjects",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "package-catalog",
      dependencies: ["RealmSwift", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/PackageCatalog", resources: [.copy("sample.txt")], swiftSettings: swiftSettings),
    .executableTarget(
      name: "todo",
      dependencies: ["RealmSwift", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/ToDo", exclude: ["try.sh"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "live",
      dependencies: ["RealmSwift", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/Live", exclude: ["try.sh"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "first-sync", dependencies: ["RealmSwift"], path: "Examples/FirstSync",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "brief-sync", dependencies: ["RealmSwift"], path: "Examples/Guides",
      exclude: ["ImportItems.swift"],
      sources: ["BriefSync.swift"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "import-items", dependencies: ["RealmSwift"], path: "Examples/Guides",
      exclude: ["BriefSync.swift"], sources: ["ImportItems.swift"], swiftSettings: swiftSettings),
    .executableTarget(
      name: "shared-todo",
      dependencies: ["RealmSwift", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      path: "Examples/SharedToDo", exclude: ["demo.sh"], swiftSettings: swiftSettings),
    .testTarget(
      name: "RealmStorageTests", dependencies: ["RealmStorage", "RealmTestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RealmInterchangeTests", dependencies: ["RealmInterchange", "RealmStorage", "RealmTestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RealmQueryTests", dependencies: ["RealmQuery", "RealmStorage", "RealmTestSupport"],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "RealmSyncTests",
      dependencies: [
        "RealmServer", "RealmStorage", "RealmSync", "RealmSyncClient", "RealmSyncSupport",
        "RealmTestSupport", "RealmWebSocket",
      ] + network,
      exclude: ["Golden"], swiftSettings: swiftSettings),
    .testTarget(
      name: "RealmSwiftTests",
      dependencies: ["Realm", "RealmSwift", "RealmStorage", "RealmSyncClient", "RealmTestSupport"],
      exclude: ["Threads/Snippets"], swiftSettings: swiftSettings),
    .testTarget(
      name: "MainActorTests", dependencies: ["RealmSwift"],
      swiftSettings: swiftSettings + [.defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "RealmToolTests",
      dependencies: ["api-coverage", "RealmStorage", "RealmTestSupport", "RealmTool"],
      exclude: ["Golden"],
      swiftSettings: swiftSettings),
  ]
)
