// swift-tools-version: 6.2

import PackageDescription

// SwiftPM knows a package that is used by its path by the name of its folder, and module aliases ask for that name. A
// service that names Inward by its address writes `package: "inward"`.
let inward = Context.packageDirectory.split(separator: "/").dropLast(2).last.map(String.init) ?? "inward"

// A service with an `Entities` module of its own, which links one ring of Inward.
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
