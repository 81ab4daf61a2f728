// swift-tools-version: 6.2

import PackageDescription

// SwiftPM identifies a package that is added by path by the name of its directory.
let inward = Context.packageDirectory.split(separator: "/").dropLast(2).last.map(String.init) ?? "inward"

// A proxy in front of one server, which adds the HTTP cache of Inward and nothing else.
let package = Package(
    name: "caching-proxy",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", from: "2.95.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "CachingProxy",
            dependencies: [
                .product(name: "InwardCore", package: inward),
                .product(name: "InwardFetching", package: inward),
                .product(name: "InwardFileStores", package: inward),
                .product(name: "InwardRepositories", package: inward),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOFoundationEssentialsCompat", package: "swift-nio"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
