// swift-tools-version: 6.2

import PackageDescription

// Inward is added by URL, as in other packages. When SwiftPM checks it out, its manifest leaves out the rings, so the service
// can use their names for its own targets. CI sets the commit.
let address = "file://" + Context.packageDirectory.split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
let inward = address.split(separator: "/").last.map(String.init) ?? "inward"

func library(_ name: String) -> Target.Dependency { .product(name: name, package: inward) }

// A service with its own entity, a comment, which it reads and writes with the libraries of Inward.
let package = Package(
    name: "own-entity",
    platforms: [.macOS(.v15)],
    dependencies: [
        Context.environment["INWARD_COMMIT"].map { .package(url: address, revision: $0) }
            ?? .package(url: address, branch: "main")
    ],
    targets: [
        .target(name: "Entities"),
        .target(name: "UseCases", dependencies: ["Entities", library("InwardCore")]),
        .target(
            name: "InterfaceAdapters",
            dependencies: ["Entities", "UseCases", library("InwardCore"), library("InwardRepositories")]
        ),
        .executableTarget(
            name: "OwnEntity",
            dependencies: [
                "Entities", "UseCases", "InterfaceAdapters", library("InwardCore"), library("InwardFetching"),
                library("InwardRepositories"), library("InwardScopes"), library("InwardURLSession"),
                library("InwardFileStores"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
