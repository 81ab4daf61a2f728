// swift-tools-version: 6.2

import PackageDescription

/// What is built only where the trait of this name is enabled.
let sqlite = TargetDependencyCondition.when(traits: ["SQLite"])
let vips = TargetDependencyCondition.when(traits: ["Vips"])

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    traits: [
        .trait(name: "SQLite", description: "Set the store over SQLite beside that of files"),
        .trait(name: "Vips", description: "Set the codec over libvips beside libvips alone, which has to be installed"),
    ],
    dependencies: [
        .package(
            name: "inward",
            path: "..",
            traits: [
                "AsyncHTTPClient",
                .trait(name: "SQLite", condition: .when(traits: ["SQLite"])),
                .trait(name: "Vips", condition: .when(traits: ["Vips"])),
            ]
        ),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
    ],
    targets: [
        // Counts what is allocated, by standing before the C library's own functions.
        .target(name: "AllocationCounter"),
        .target(name: "Measuring", dependencies: ["AllocationCounter", "Comparing"]),
        // Apart, so that nothing is counted where several threads would wait for the count.
        .target(name: "Comparing"),
        .executableTarget(
            name: "decorators",
            dependencies: [
                "Measuring",
                .product(name: "InwardFetching", package: "inward"),
            ]
        ),
        .target(name: "Soaking"),
        // Runs every decorator at once over a bad upstream, for as long as it is told to.
        .executableTarget(
            name: "soak",
            dependencies: [
                "Soaking",
                .product(name: "InwardCore", package: "inward"),
                .product(name: "InwardFetching", package: "inward"),
                .product(name: "InwardRepositories", package: "inward"),
                .product(name: "InwardTesting", package: "inward"),
            ]
        ),
        .executableTarget(
            name: "loopback",
            dependencies: [
                "Comparing",
                .product(name: "InwardURLSession", package: "inward"),
                .product(name: "InwardFetching", package: "inward"),
                .product(name: "InwardAsyncHTTPClient", package: "inward"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            ]
        ),
        .executableTarget(
            name: "simultaneous",
            dependencies: [
                "Comparing",
                .product(name: "InwardFetching", package: "inward"),
                .product(name: "InwardAsyncHTTPClient", package: "inward"),
            ]
        ),
        // Writes into a store of files, or of a database, and reads from it.
        .executableTarget(
            name: "store",
            dependencies: [
                .product(name: "InwardFileStores", package: "inward"),
                .product(name: "InwardRepositories", package: "inward"),
                .product(name: "InwardSQLite", package: "inward", condition: sqlite),
            ]
        ),
        // Writes through an outbox into a store of files.
        .executableTarget(
            name: "outbox",
            dependencies: [
                "Comparing",
                .product(name: "InwardCore", package: "inward"),
                .product(name: "InwardFetching", package: "inward"),
                .product(name: "InwardFileStores", package: "inward"),
                .product(name: "InwardRepositories", package: "inward"),
            ]
        ),
        // Reads from a repository, out of memory and not, and from one that many sessions share.
        .executableTarget(
            name: "repository",
            dependencies: [
                "Comparing",
                "Measuring",
                .product(name: "Entities", package: "inward"),
                .product(name: "InterfaceAdapters", package: "inward"),
                .product(name: "InwardCore", package: "inward"),
                .product(name: "InwardFetching", package: "inward"),
                .product(name: "InwardRepositories", package: "inward"),
                .product(name: "InwardScopes", package: "inward"),
                .product(name: "InwardTesting", package: "inward"),
                .product(name: "UseCases", package: "inward"),
            ]
        ),
        // Transfers 1 MiB, 100 MiB and 1 GiB, and sees whether memory stays flat.
        .executableTarget(
            name: "transfers",
            dependencies: [
                "Soaking",
                .product(name: "InwardFetching", package: "inward"),
                .product(name: "InwardFileStores", package: "inward"),
                .product(name: "InwardTransfers", package: "inward"),
                .product(name: "InwardURLSession", package: "inward"),
            ]
        ),
        // Does one thing to an image for a while: `Benchmarks/images` sets it beside its peers.
        .executableTarget(
            name: "images",
            dependencies: [
                .product(name: "InwardCore", package: "inward"),
                .product(name: "InwardImageCodecs", package: "inward"),
                .product(name: "InwardImages", package: "inward"),
                .product(name: "InwardVips", package: "inward", condition: vips),
            ]
        ),
        // Loads a hundred large images at once.
        .executableTarget(
            name: "crowd",
            dependencies: [
                .product(name: "InwardCore", package: "inward"),
                .product(name: "InwardImageCodecs", package: "inward"),
                .product(name: "InwardImages", package: "inward"),
            ]
        ),
        // Loads images of all sizes for as long as it is told to, and sees whether memory goes back.
        .executableTarget(
            name: "image-soak",
            dependencies: [
                "Soaking",
                .product(name: "InwardCore", package: "inward"),
                .product(name: "InwardImageCodecs", package: "inward"),
                .product(name: "InwardImages", package: "inward"),
                .product(name: "InwardTesting", package: "inward"),
            ]
        ),
        // Opens and forgets many sessions, and sees whether memory stays flat.
        .executableTarget(
            name: "session-soak",
            dependencies: [
                "Soaking",
                .product(name: "InwardFetching", package: "inward"),
                .product(name: "InwardRepositories", package: "inward"),
                .product(name: "InwardScopes", package: "inward"),
                .product(name: "InwardTesting", package: "inward"),
            ]
        ),
        .testTarget(name: "MeasuringTests", dependencies: ["Measuring", "Comparing"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
