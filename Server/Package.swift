// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "realm-server",
  platforms: [.macOS(.v15)],
  products: [.executable(name: "realm-server", targets: ["RealmServerCommand"])],
  dependencies: [
    .package(name: "realm-swift", path: ".."),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
  ],
  targets: [
    .target(
      name: "Definition", dependencies: [.product(name: "Yams", package: "Yams")],
      swiftSettings: swiftSettings),
    .target(
      name: "Accounts",
      dependencies: [
        .product(name: "CRealmSodium", package: "realm-swift"),
        .product(name: "RealmInterchange", package: "realm-swift"),
        .product(name: "RealmSwift", package: "realm-swift"),
      ], swiftSettings: swiftSettings),
    .target(
      name: "Front",
      dependencies: [
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "RealmWebSocket", package: "realm-swift"),
      ], swiftSettings: swiftSettings),
    .target(
      name: "Service",
      dependencies: [
        "Accounts", "Definition", "Front",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "RealmInterchange", package: "realm-swift"),
        .product(name: "RealmServer", package: "realm-swift"),
        .product(name: "RealmStorage", package: "realm-swift"),
      ], swiftSettings: swiftSettings),
    .executableTarget(
      name: "RealmServerCommand",
      dependencies: [
        "Service", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: swiftSettings),
    .target(
      name: "SyncPrograms",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ], path: "Tests/SyncPrograms", swiftSettings: swiftSettings),
    .executableTarget(
      name: "sync-load",
      dependencies: [
        "SyncPrograms", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "RealmStorage", package: "realm-swift"),
        .product(name: "RealmSwift", package: "realm-swift"),
      ], path: "Tests/SyncLoad", swiftSettings: swiftSettings),
    .executableTarget(
      name: "sync-faults",
      dependencies: [
        "SyncPrograms", .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "RealmSwift", package: "realm-swift"),
      ], path: "Tests/SyncFaults", swiftSettings: swiftSettings),
    .executableTarget(
      name: "network-fuzz",
      dependencies: [
        "Accounts", "Definition", "Front", "Service",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "RealmFuzzSupport", package: "realm-swift"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "RealmServer", package: "realm-swift"),
      ], path: "Tests/NetworkFuzz", swiftSettings: swiftSettings),
    .testTarget(name: "DefinitionTests", dependencies: ["Definition"], swiftSettings: swiftSettings),
    .testTarget(
      name: "AccountsTests",
      dependencies: ["Accounts", .product(name: "RealmSwift", package: "realm-swift")],
      swiftSettings: swiftSettings),
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        "Accounts", "Definition", "Front", "Service",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "RealmStorage", package: "realm-swift"),
      ], swiftSettings: swiftSettings),
    .testTarget(
      name: "SyncTests",
      dependencies: [
        "Accounts", "Definition", "Front", "Service",
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "RealmSwift", package: "realm-swift"),
      ], swiftSettings: swiftSettings),
    .testTarget(
      name: "FrontTests",
      dependencies: [
        "Front", .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "RealmWebSocket", package: "realm-swift"),
      ], swiftSettings: swiftSettings),
  ]
)
