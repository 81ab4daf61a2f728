// swift-tools-version: 6.2

import PackageDescription

/// Conditions for dependencies that need a trait.
let postgreSQL = TargetDependencyCondition.when(traits: ["PostgreSQL"])
let sqlite = TargetDependencyCondition.when(traits: ["SQLite"])
let vips = TargetDependencyCondition.when(traits: ["Vips"])

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    traits: [
        .trait(name: "PostgreSQL", description: "Compare the PostgreSQL store with pgbench"),
        .trait(name: "SQLite", description: "Compare the SQLite store with the file store"),
        .trait(name: "Vips", description: "Compare the libvips codec with libvips alone, which must be installed"),
    ],
    dependencies: [
        .package(
            name: "inward",
            path: "..",
            traits: [
                "AsyncHTTPClient",
                .trait(name: "PostgreSQL", condition: .when(traits: ["PostgreSQL"])),
                .trait(name: "SQLite", condition: .when(traits: ["SQLite"])),
                .trait(name: "Vips", condition: .when(traits: ["Vips"])),
            ]
        ),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
    ],
    targets: [
        // Counts allocations by replacing the allocation functions of the C library.
        .target(name: "AllocationCounter"),
        .target(name: "Measuring", dependencies: ["AllocationCounter", "Comparing"]),
        // Separate, so that multithreaded benchmarks do not contend for the allocation count.
        .target(name: "Comparing"),
        .executableTarget(
            name: "decorators",
            dependencies: [
                "Measuring",
                .product(name: "InwardFetching", package: "inward"),
            ]
        ),
        .executableTarget(
            name: "http-cache",
            dependencies: [
                "Comparing", "Measuring",
                .product(name: "InwardFetching", package: "inward"),
            ]
        ),
        .target(name: "Soaking"),
        // Runs every decorator at once over an upstream with faults, for a given time.
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
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
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
        // Measures writes and reads of a file store or a SQLite store.
        .executableTarget(
            name: "store",
            dependencies: [
                .product(name: "InwardFileStores", package: "inward"),
                .product(name: "InwardRepositories", package: "inward"),
                .product(name: "InwardSQLite", package: "inward", condition: sqlite),
            ]
        ),
        // Measures commits into a PostgreSQL store.
        .executableTarget(
            name: "postgresql",
            dependencies: [
                .product(name: "InwardPostgreSQL", package: "inward", condition: postgreSQL),
                .product(name: "InwardRepositories", package: "inward", condition: postgreSQL),
            ]
        ),
        // One instance of a service whose instances share an outbox in a PostgreSQL database.
        .executableTarget(
            name: "outbox-instance",
            dependencies: [
                .product(name: "InwardAsyncHTTPClient", package: "inward", condition: postgreSQL),
                .product(name: "InwardCore", package: "inward", condition: postgreSQL),
                .product(name: "InwardFetching", package: "inward", condition: postgreSQL),
                .product(name: "InwardPostgreSQL", package: "inward", condition: postgreSQL),
                .product(name: "InwardRepositories", package: "inward", condition: postgreSQL),
            ]
        ),
        // Measures writes through an outbox into a file store.
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
        // Measures reads from a repository, from memory and not, and from one that many sessions share.
        .executableTarget(
            name: "repository",
            dependencies: [
                "Comparing",
                "Measuring",
                .product(name: "Composition", package: "inward"),
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
        // Transfers 1 MiB, 100 MiB and 1 GiB, and checks that memory use stays flat.
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
        // Repeats one image operation for a while. `Benchmarks/images` compares it with its peers.
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
        // Loads images of all sizes for a given time, and checks that memory is released.
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
        // Opens and evicts many sessions, and checks that memory use stays flat.
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
