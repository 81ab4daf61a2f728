// swift-tools-version: 6.2

import PackageDescription

// SwiftPM identifies a package that is added by path by the name of its directory.
let inward = Context.packageDirectory.split(separator: "/").dropLast(2).last.map(String.init) ?? "inward"

/// Returns a library of Inward.
func library(_ name: String) -> Target.Dependency { .product(name: name, package: inward) }

let package = Package(
    name: "feed-service",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(
            path: "../..",
            traits: ["AsyncHTTPClient", "Observability", "PostgreSQL", "ServiceLifecycle", "SQLite", "Vips"]
        ),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.2"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.0"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.0"),
        .package(url: "https://github.com/apple/swift-service-context", from: "1.1.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "feed-service",
            dependencies: [
                "FeedService", library("InwardCore"), library("InwardObservability"), library("InwardRepositories"),
                library("InwardScopes"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .target(
            name: "FeedService",
            dependencies: [
                library("Entities"), library("UseCases"), library("InterfaceAdapters"), library("Infrastructure"),
                library("InwardCore"), library("InwardFetching"), library("InwardRepositories"),
                library("InwardScopes"), library("InwardFileStores"), library("InwardImages"),
                library("InwardImageServing"), library("InwardVips"),
                library("InwardAsyncHTTPClient"), library("InwardObservability"), library("InwardPostgreSQL"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "ServiceContextModule", package: "swift-service-context"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [
                .embedInCode("API/openapi.json"), .embedInCode("Pages/style.css"), .embedInCode("Pages/live.js"),
                .embedInCode("Pages/icon.svg"),
            ]
        ),
        .testTarget(
            name: "FeedServiceTests",
            dependencies: [
                "FeedService",
                library("Entities"), library("UseCases"), library("Infrastructure"), library("InwardCore"),
                library("InwardFetching"),
                library("InwardRepositories"),
                library("InwardScopes"), library("InwardTesting"),
                library("InwardAsyncHTTPClient"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "ServiceContextModule", package: "swift-service-context"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .strictMemorySafety(),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]
}
