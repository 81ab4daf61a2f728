// swift-tools-version: 6.2

import PackageDescription

// Inward is linked by its address, as other packages link it: then only its libraries are there, and the names of the rings are
// free for this service. CI names the commit.
let address = "file://" + Context.packageDirectory.split(separator: "/").dropLast(2).map { "/\($0)" }.joined()
let inward = address.split(separator: "/").last.map(String.init) ?? "inward"

/// A library of Inward. Its name is nobody else's, so it needs no alias beside targets of the service that are called as the rings are.
func library(_ name: String) -> Target.Dependency { .product(name: name, package: inward) }

// A service with rings, entities and a client of its own, which takes only the libraries of Inward.
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
