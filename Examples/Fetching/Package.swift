// swift-tools-version: 6.2

import PackageDescription

// SwiftPM knows a package that is used by its path by the name of its folder. A service that names Inward by its address
// writes `package: "inward"`.
let inward = Context.packageDirectory.split(separator: "/").dropLast(2).last.map(String.init) ?? "inward"

// A service with a client of its own, which takes the repositories and presenters of Inward and none of its I/O.
let package = Package(
    name: "fetching",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "../..")
    ],
    targets: [
        .executableTarget(
            name: "Fetching",
            dependencies: [
                .product(name: "InterfaceAdapters", package: inward),
                .product(name: "UseCases", package: inward),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
