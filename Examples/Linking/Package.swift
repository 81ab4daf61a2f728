// swift-tools-version: 6.2

import PackageDescription

// SwiftPM identifies a package that is added by path by the name of its directory, and module aliases need that name. For a
// package that is added by URL, write `package: "inward"`.
let inward = Context.packageDirectory.split(separator: "/").dropLast(2).last.map(String.init) ?? "inward"

// A service with its own `Entities` module, which links one ring of Inward.
let package = Package(
    name: "linking",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "../..")
    ],
    targets: [
        .target(name: "Entities"),
        .executableTarget(
            name: "Linking",
            dependencies: [
                "Entities",
                .product(name: "InwardCore", package: inward),
                .product(name: "UseCases", package: inward, moduleAliases: ["Entities": "InwardEntities"]),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
