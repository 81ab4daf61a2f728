// swift-tools-version: 6.2

import PackageDescription

// Inward is added by URL, as in other packages. When SwiftPM checks it out, its manifest leaves out the rings, so the service
// can use their names for its own targets. CI sets the commit.
let address = "file://" + Context.packageDirectory.split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
let inward = address.split(separator: "/").last.map(String.init) ?? "inward"

/// Returns a library of Inward. Library names are unique, so they need no module aliases.
func library(_ name: String) -> Target.Dependency { .product(name: name, package: inward) }

// A service with its own rings, entities and client. It uses only the libraries of Inward.
let package = Package(
    name: "fetching",
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
            dependencies: [
                "Entities", "UseCases", library("InwardCore"), library("InwardFetching"), library("InwardRepositories"),
            ]
        ),
        .target(name: "Infrastructure", dependencies: [library("InwardFetching")]),
        .executableTarget(
            name: "Fetching",
            dependencies: [
                "UseCases", "InterfaceAdapters", "Infrastructure", library("InwardFetching"),
                library("InwardRepositories"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
