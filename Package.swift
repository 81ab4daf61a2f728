// swift-tools-version: 6.2

import PackageDescription

/// Conditions that build a dependency only if its trait is enabled.
let asyncHTTPClient = TargetDependencyCondition.when(traits: ["AsyncHTTPClient"])
let observability = TargetDependencyCondition.when(traits: ["Observability"])
let serviceLifecycle = TargetDependencyCondition.when(traits: ["ServiceLifecycle"])
let postgreSQL = TargetDependencyCondition.when(traits: ["PostgreSQL"])
let sqlite = TargetDependencyCondition.when(traits: ["SQLite"])
let vips = TargetDependencyCondition.when(traits: ["Vips"])

#if os(macOS)
let vipsPackageConfig = "vips"
#else
// The compiler finds the headers of libvips by itself. This package configuration finds the headers that those include. The
// package configuration of libvips itself has flags that SwiftPM rejects with a warning.
let vipsPackageConfig = "gobject-2.0"
#endif

/// Whether the package contains the rings, or only the libraries.
///
/// SwiftPM requires unique target names across all packages, even for targets that nobody links, and services often call their own
/// targets `Entities` or `UseCases`. The rings are therefore left out if another package has checked this one out from its URL. The
/// environment variable `INWARD_RINGS` overrides this: `1` adds the rings, for a service that links them, and `0` leaves them out, for
/// a service that has targets of these names and depends on this package by path.
let hasRings =
    switch Context.environment["INWARD_RINGS"] {
    case "0": false
    case .some: true
    // Before it checks a package out, SwiftPM reads the manifest by itself, as if it were at `/`.
    case nil: Context.packageDirectory != "/" && !Context.packageDirectory.contains("/checkouts/")
    }

// MARK: The application, innermost ring first

let rings: [Target] = [
    .target(name: "Entities"),
    .target(name: "UseCases", dependencies: ["Entities", "InwardCore", "InwardImages", "InwardTransfers"]),
    .target(
        name: "InterfaceAdapters",
        dependencies: [
            "Entities", "UseCases", "InwardCore", "InwardImages", "InwardTransfers", "InwardFetching",
            "InwardRepositories",
        ]
    ),
    .target(
        name: "Infrastructure",
        dependencies: [
            "Entities", "UseCases", "InterfaceAdapters", "InwardCore", "InwardImages", "InwardTransfers",
            "InwardFetching", "InwardRepositories", "InwardFileStores", "InwardImageCodecs", "InwardRecordDirectories",
        ],
        resources: [.embedInCode("Sample/users.json"), .embedInCode("Sample/posts.json")]
    ),
    .target(
        name: "Composition",
        dependencies: [
            "Entities", "UseCases", "InterfaceAdapters", "Infrastructure", "InwardCore", "InwardImages",
            "InwardTransfers", "InwardFetching", "InwardRepositories", "InwardImageServing", "InwardScopes",
            "InwardURLSession", "InwardFileStores", "InwardImageCodecs",
            .target(name: "InwardAsyncHTTPClient", condition: asyncHTTPClient),
            .target(name: "InwardPostgreSQL", condition: postgreSQL),
            .target(name: "InwardVips", condition: vips),
        ]
    ),
    .executableTarget(
        name: "inward",
        dependencies: [
            "Composition", "Infrastructure", "InterfaceAdapters", "InwardFetching", "InwardFileStores",
            "InwardRepositories", "InwardScopes", "InwardURLSession", "InwardCommandLine",
        ]
    ),
    .testTarget(name: "EntitiesTests", dependencies: ["Entities"]),
    .testTarget(
        name: "UseCasesTests",
        dependencies: [
            "UseCases", "Entities", "InwardCore", "InwardImages", "InwardTransfers", "InwardTesting",
            "UseCasesTesting", "TestSupport",
        ]
    ),
    .testTarget(
        name: "InterfaceAdaptersTests",
        dependencies: [
            "InterfaceAdapters", "Entities", "UseCases", "InwardCore", "InwardImages", "InwardTransfers",
            "InwardFetching", "InwardRepositories", "InwardImageServing", "InwardTesting", "UseCasesTesting",
            "TestSupport",
        ]
    ),
    .testTarget(
        name: "InfrastructureTests",
        dependencies: [
            "Infrastructure", "Entities", "UseCases", "InterfaceAdapters", "InwardCore", "InwardImages",
            "InwardFetching", "InwardRepositories", "InwardFileStores", "InwardImageCodecs",
            "InwardTesting", "TestSupport", "Thoroughness",
        ]
    ),
    .testTarget(
        name: "CompositionTests",
        dependencies: [
            "Composition", "Entities", "UseCases", "InterfaceAdapters", "Infrastructure", "InwardCore",
            "InwardImages", "InwardFetching", "InwardRepositories", "InwardImageServing",
            "InwardScopes", "InwardURLSession", "InwardImageCodecs", "InwardTesting", "TestSupport", "LoopbackServer",
            .target(name: "InwardAsyncHTTPClient", condition: asyncHTTPClient),
        ]
    ),
    .testTarget(
        name: "inwardTests",
        dependencies: [
            "inward", "Infrastructure", "InterfaceAdapters", "InwardCore", "InwardFetching", "InwardFileStores",
            "InwardRepositories", "InwardScopes", "InwardURLSession", "InwardCommandLine", "InwardTesting",
            "TestSupport", "LoopbackServer",
        ]
    ),
]

// MARK: The libraries that services link

let libraries: [Target] = [
    // Ring 2
    .target(name: "InwardCore"),
    .target(name: "InwardImages", dependencies: ["InwardCore"]),
    .target(name: "InwardTransfers", dependencies: ["InwardCore"]),
    // Ring 3
    .target(name: "InwardFetching", dependencies: ["InwardCore", "InwardTransfers"]),
    .target(name: "InwardRepositories", dependencies: ["InwardCore", "InwardTransfers", "InwardFetching"]),
    .target(name: "InwardImageServing", dependencies: ["InwardCore", "InwardImages", "InwardFetching"]),
    // Ring 4
    .target(name: "InwardURLSession", dependencies: ["InwardCore", "InwardFetching"]),
    .target(
        name: "InwardFileStores",
        dependencies: ["InwardTransfers", "InwardFetching", "InwardRepositories", "InwardRecordDirectories"]
    ),
    .target(name: "InwardImageCodecs", dependencies: ["InwardImages"]),
    // Not a product: the code that record stores in directories share.
    .target(name: "InwardRecordDirectories", dependencies: ["InwardCore", "InwardRepositories"]),
    // For composition roots
    .target(name: "InwardScopes", dependencies: ["InwardCore", "InwardFetching", "InwardRepositories"]),

    .testTarget(
        name: "InwardCoreTests",
        dependencies: ["InwardCore", "InwardTransfers", "InwardTesting", "TestSupport"]
    ),
    .testTarget(
        name: "InwardImagesTests",
        dependencies: ["InwardImages", "InwardCore", "InwardTesting", "TestSupport", "Thoroughness"],
        exclude: ["Plugins/expected.py"]
    ),
    .testTarget(
        name: "InwardTransfersTests",
        dependencies: ["InwardTransfers", "InwardCore", "InwardTesting", "TestSupport"]
    ),
    .testTarget(
        name: "InwardFetchingTests",
        dependencies: [
            "InwardFetching", "InwardCore", "InwardTransfers", "InwardTesting", "TestSupport", "Thoroughness",
        ]
    ),
    .testTarget(
        name: "InwardRepositoriesTests",
        dependencies: [
            "InwardRepositories", "InwardCore", "InwardFetching", "InwardTesting", "TestSupport", "Thoroughness",
        ]
    ),
    .testTarget(
        name: "InwardImageServingTests",
        dependencies: [
            "InwardImageServing", "InwardCore", "InwardImages", "InwardFetching", "InwardTesting", "TestSupport",
        ]
    ),
    .testTarget(
        name: "InwardURLSessionTests",
        dependencies: ["InwardURLSession", "InwardFetching", "LoopbackServer"]
    ),
    .testTarget(
        name: "InwardFileStoresTests",
        dependencies: [
            "InwardFileStores", "InwardCore", "InwardTransfers", "InwardFetching", "InwardRepositories",
            "InwardRecordDirectories", "InwardTesting", "TestSupport", "Thoroughness",
        ]
    ),
    .testTarget(
        name: "InwardImageCodecsTests",
        dependencies: ["InwardImageCodecs", "InwardImages", "InwardTesting", "Thoroughness"],
        exclude: ["Fixtures"]
    ),
    .testTarget(
        name: "InwardScopesTests",
        dependencies: [
            "InwardScopes", "InwardCore", "InwardFetching", "InwardRepositories", "InwardTesting", "TestSupport",
        ]
    ),
]

// MARK: Integrations, each behind a trait

let integrations: [Target] = [
    .target(
        name: "InwardAsyncHTTPClient",
        dependencies: [
            "InwardCore", "InwardFetching",
            .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
            .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
            .product(name: "NIOPosix", package: "swift-nio", condition: asyncHTTPClient),
            .product(name: "NIOHTTPCompression", package: "swift-nio-extras", condition: asyncHTTPClient),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: asyncHTTPClient),
        ]
    ),
    .target(
        name: "InwardObservability",
        dependencies: [
            "InwardCore", "InwardImages", "InwardFetching", "InwardRepositories", "InwardScopes",
            .product(name: "Logging", package: "swift-log", condition: observability),
            .product(name: "Metrics", package: "swift-metrics", condition: observability),
            .product(name: "Tracing", package: "swift-distributed-tracing", condition: observability),
        ]
    ),
    .target(
        name: "InwardServiceLifecycle",
        dependencies: [
            "InwardScopes",
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: serviceLifecycle),
        ]
    ),
    .target(
        name: "InwardSQLite",
        dependencies: [
            "InwardTransfers", "InwardRepositories", "InwardRecordDirectories",
            .product(name: "GRDB", package: "GRDB.swift", condition: sqlite),
        ]
    ),
    .target(
        name: "InwardPostgreSQL",
        dependencies: [
            "InwardCore", "InwardTransfers", "InwardRepositories", .target(name: "CPostgreSQL", condition: postgreSQL),
        ]
    ),
    // Waits for libpq with a time limit, and can be interrupted. Empty without the trait.
    .target(
        name: "CPostgreSQL",
        dependencies: [.target(name: "CLibPQ", condition: postgreSQL)],
        cSettings: [.define("POSTGRESQL", .when(traits: ["PostgreSQL"]))],
        linkerSettings: [.linkedLibrary("pq", .when(traits: ["PostgreSQL"]))]
    ),
    .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
        name: "InwardVips",
        dependencies: [
            "InwardCore", "InwardImages", .target(name: "CVips", condition: vips),
            .target(name: "CPango", condition: vips),
        ]
    ),
    // Wraps functions of libvips with variable arguments, which Swift cannot call. Empty without the trait.
    .target(
        name: "CVips",
        dependencies: [.target(name: "CLibVips", condition: vips)],
        cSettings: [.define("VIPS", .when(traits: ["Vips"]))],
        linkerSettings: [.linkedLibrary("vips", .when(traits: ["Vips"]))]
    ),
    .systemLibrary(
        name: "CLibVips",
        pkgConfig: vipsPackageConfig,
        providers: [.apt(["libvips-dev"]), .brew(["vips"])]
    ),
    // Turns text into outlines with Pango, which libvips brings. Empty without the trait. SwiftPM warns that it ignores a flag of the
    // package configuration, `-pthread`, which is not needed.
    .target(
        name: "CPango",
        dependencies: [.target(name: "CLibPango", condition: vips)],
        cSettings: [.define("VIPS", .when(traits: ["Vips"]))]
    ),
    .systemLibrary(
        name: "CLibPango",
        pkgConfig: "pangoft2",
        providers: [.apt(["libpango1.0-dev"]), .brew(["pango"])]
    ),

    .testTarget(
        name: "InwardAsyncHTTPClientTests",
        dependencies: [
            "InwardAsyncHTTPClient", "InwardCore", "InwardFetching", "InwardTesting", "TestSupport", "LoopbackServer",
            .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
            .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
            .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
            .product(name: "NIOPosix", package: "swift-nio", condition: asyncHTTPClient),
            .product(name: "NIOSSL", package: "swift-nio-ssl", condition: asyncHTTPClient),
        ]
    ),
    .testTarget(
        name: "InwardObservabilityTests",
        dependencies: [
            "InwardObservability", "InwardCore", "InwardImages", "InwardFetching", "InwardRepositories", "InwardScopes",
            "InwardTesting",
            .product(name: "Logging", package: "swift-log", condition: observability),
            .product(name: "InMemoryLogging", package: "swift-log", condition: observability),
            .product(name: "Metrics", package: "swift-metrics", condition: observability),
            .product(name: "MetricsTestKit", package: "swift-metrics", condition: observability),
            .product(name: "Tracing", package: "swift-distributed-tracing", condition: observability),
            .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: observability),
        ]
    ),
    .testTarget(
        name: "InwardServiceLifecycleTests",
        dependencies: [
            "InwardServiceLifecycle", "InwardScopes", "InwardFetching", "InwardRepositories", "InwardTesting",
            .product(name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: serviceLifecycle),
            .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle", condition: serviceLifecycle),
            .product(name: "Logging", package: "swift-log", condition: serviceLifecycle),
        ]
    ),
    .testTarget(
        name: "InwardSQLiteTests",
        dependencies: [
            "InwardSQLite", "InwardTransfers", "InwardFileStores", "InwardRepositories",
            "InwardRecordDirectories", "InwardTesting", "TestSupport", "Thoroughness",
            .product(name: "GRDB", package: "GRDB.swift", condition: sqlite),
        ]
    ),
    .testTarget(
        name: "InwardPostgreSQLTests",
        dependencies: [
            "InwardPostgreSQL", "InwardCore", "InwardFetching", "InwardRepositories", "InwardTesting", "TestSupport",
        ]
    ),
    .testTarget(
        name: "InwardVipsTests",
        dependencies: [
            "InwardVips", "InwardCore", "InwardImages", "InwardFetching", "InwardImageCodecs", "InwardImageServing",
            "InwardTesting", .target(name: "CVips", condition: vips),
        ]
    ),
]

// MARK: Doubles and conformance suites, for this package's tests and those of services

let testing: [Target] = [
    .target(
        name: "InwardTesting",
        dependencies: [
            "InwardCore", "InwardImages", "InwardTransfers", "InwardFetching", "InwardRepositories",
            "InwardImageServing",
        ]
    ),
    .testTarget(
        name: "InwardTestingTests",
        dependencies: [
            "InwardTesting", "InwardCore", "InwardImages", "InwardTransfers", "InwardFetching", "InwardRepositories",
            "InwardImageServing", "TestSupport", "Thoroughness",
        ]
    ),
]

let ringTesting: [Target] = [
    .target(
        name: "UseCasesTesting",
        dependencies: ["UseCases", "Entities", "InwardCore", "InwardTransfers", "InwardTesting"]
    ),
    .testTarget(
        name: "UseCasesTestingTests",
        dependencies: ["UseCasesTesting", "Entities", "InwardCore"]
    ),
]

// MARK: Tools

let tools: [Target] = [
    // Checks a package against the diagram of its layers: `swift package check-layers`.
    .target(name: "LayerContract"),
    .executableTarget(name: "check-layers", dependencies: ["LayerContract", "InwardCommandLine"]),
    .plugin(
        name: "CheckLayersPlugin",
        capability: .command(
            intent: .custom(verb: "check-layers", description: "Check the package against its layer diagram.")
        ),
        dependencies: ["check-layers"]
    ),
    // Writes a new subject through all rings: `swift package scaffold-subject NAME`.
    .executableTarget(name: "scaffold-subject", dependencies: ["LayerContract", "InwardCommandLine"]),
    .plugin(
        name: "ScaffoldSubjectPlugin",
        capability: .command(
            intent: .custom(
                verb: "scaffold-subject",
                description: "Write a new subject, such as Comment, through all rings, with its tests"
            ),
            permissions: [
                .writeToPackageDirectory(reason: "The files of the new subject are written into the package.")
            ]
        ),
        dependencies: ["scaffold-subject"]
    ),
    // Not a product: splits the command lines of the tools and of `inward`.
    .target(name: "InwardCommandLine"),
    .testTarget(name: "LayerContractTests", dependencies: ["LayerContract"]),
    .testTarget(name: "check-layersTests", dependencies: ["check-layers", "LayerContract", "InwardCommandLine"]),
    .testTarget(
        name: "scaffold-subjectTests",
        dependencies: ["scaffold-subject", "LayerContract", "InwardCommandLine"]
    ),
    .testTarget(name: "InwardCommandLineTests", dependencies: ["InwardCommandLine"]),
]

// MARK: For this package's tests alone

let support: [Target] = [
    // An HTTP server on a loopback socket.
    .target(
        name: "LoopbackServer",
        dependencies: ["InwardFetching", "InwardTesting"],
        path: "Tests/Support/LoopbackServer"
    ),
    // Tells tests whether to run all cases or a sample.
    .target(name: "Thoroughness", path: "Tests/Support/Thoroughness"),
    // Samples and doubles that the tests of several targets use.
    .target(
        name: "TestSupport",
        dependencies: [
            "InwardCore", "InwardImages", "InwardFetching", "InwardRepositories", "InwardTesting",
        ],
        path: "Tests/Support/TestSupport"
    ),
]

for (group, targets) in [
    ("Rings", rings), ("Libraries", libraries), ("Integrations", integrations),
    ("Testing", testing + ringTesting), ("Tools", tools),
] {
    for target in targets { target.path = "\(target.type == .test ? "Tests" : "Sources")/\(group)/\(target.name)" }
}

let libraryProducts = [
    "InwardCore", "InwardImages", "InwardTransfers", "InwardFetching", "InwardRepositories", "InwardImageServing",
    "InwardURLSession", "InwardFileStores", "InwardImageCodecs", "InwardScopes", "InwardAsyncHTTPClient",
    "InwardObservability", "InwardServiceLifecycle", "InwardPostgreSQL", "InwardSQLite", "InwardVips", "InwardTesting",
    "LayerContract",
]
let ringProducts = ["Entities", "UseCases", "InterfaceAdapters", "Infrastructure", "Composition", "UseCasesTesting"]

/// Returns the library product of a target, with the same name.
func library(_ name: String) -> Product { .library(name: name, targets: [name]) }

/// All targets, or only the test targets that the environment variable `INWARD_TESTS` names. A build for the tests of some targets
/// then does not build those of all.
var allTargets = (hasRings ? rings + ringTesting : []) + libraries + integrations + testing + tools + support
if let tests = Context.environment["INWARD_TESTS"]?.split(separator: " ") {
    allTargets.removeAll { target in target.type == .test && !tests.contains { $0 == target.name } }
}

let traits = [
    "AsyncHTTPClient":
        "Fetches with swift-server/async-http-client, a client with pooled connections, instead of URLSession",
    "Observability": "Reports what happens through swift-log, swift-metrics and swift-distributed-tracing",
    "PostgreSQL": "Stores records in a PostgreSQL database that many machines share, with libpq; install it first",
    "ServiceLifecycle": "Shuts an app down gracefully as a service of swift-server/swift-service-lifecycle",
    "SQLite": "Stores records in an SQLite database, with groue/GRDB.swift; on Linux, install SQLite first",
    "Vips":
        "Decodes and encodes WebP, GIF, AVIF, HEIF, TIFF, JPEG and PNG with libvips, and draws text with Pango; install them first",
]

let package = Package(
    name: "inward",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "check-layers", targets: ["check-layers"]),
        .plugin(name: "CheckLayers", targets: ["CheckLayersPlugin"]),
        .plugin(name: "ScaffoldSubject", targets: ["ScaffoldSubjectPlugin"]),
    ]
        + libraryProducts.map(library)
        + (hasRings ? [.executable(name: "inward", targets: ["inward"])] + ringProducts.map(library) : []),
    traits: Set(traits.map { .trait(name: $0.key, description: $0.value) }),
    dependencies: [
        // SwiftPM does not resolve a package while its trait is off.
        // Each version is the oldest with which the integration's tests pass, or a later one that fixes a crash or a hang:
        // async-http-client 1.30.1 and 1.32.1, swift-service-lifecycle 2.4.1.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.32.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.82.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.26.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.30.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.12.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.4.1"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: allTargets,
    swiftLanguageModes: [.v6]
)

for target in package.targets
where target.type != .plugin && target.type != .system && !["CPostgreSQL", "CVips", "CPango"].contains(target.name) {
    target.swiftSettings = [
        .strictMemorySafety(),  // SE-0458: unsafe operations are marked `unsafe`.
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335: an existential says `any`.
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444: a member needs its module's import.
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409: an import without an access level is internal.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461: async code runs on its caller's actor.
    ]
    // SE-0480: a setting, because SwiftPM builds everything again between commands with and without a flag for it.
    if Context.environment["WARNINGS_AS_ERRORS"] != nil { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}
