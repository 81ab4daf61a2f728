// swift-tools-version: 6.2

import PackageDescription

/// What is built only where the trait of this name is enabled.
let asyncHTTPClient = TargetDependencyCondition.when(traits: ["AsyncHTTPClient"])
let observability = TargetDependencyCondition.when(traits: ["Observability"])
let sqlite = TargetDependencyCondition.when(traits: ["SQLite"])
let vips = TargetDependencyCondition.when(traits: ["Vips"])

#if os(macOS)
let vipsPackageConfig = "vips"
#else
// The headers of libvips are where the compiler looks; those that they include are found by this. What all that libvips is built
// with says has flags that SwiftPM does not take, and warns of.
let vipsPackageConfig = "gobject-2.0"
#endif

let package = Package(
    name: "inward",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Entities", targets: ["Entities"]),
        .library(name: "UseCases", targets: ["UseCases"]),
        .library(name: "InterfaceAdapters", targets: ["InterfaceAdapters"]),
        .library(name: "Infrastructure", targets: ["Infrastructure"]),
        .library(name: "InfrastructureAsyncHTTPClient", targets: ["InfrastructureAsyncHTTPClient"]),
        .library(name: "InfrastructureObservability", targets: ["InfrastructureObservability"]),
        .library(name: "InfrastructureSQLite", targets: ["InfrastructureSQLite"]),
        .library(name: "InfrastructureVips", targets: ["InfrastructureVips"]),
        .library(name: "Composition", targets: ["Composition"]),
        .library(name: "InwardTesting", targets: ["InwardTesting"]),
        .executable(name: "inward", targets: ["inward"]),
        .library(name: "LayerContract", targets: ["LayerContract"]),
        .executable(name: "check-layers", targets: ["check-layers"]),
        .plugin(name: "CheckLayers", targets: ["CheckLayersPlugin"]),
    ],
    traits: [
        .trait(
            name: "AsyncHTTPClient",
            description:
                "Fetch by swift-server/async-http-client, a client with pooled connections, and not by URLSession"
        ),
        .trait(
            name: "Observability",
            description: "Tell what happens to requests by swift-log, swift-metrics and swift-distributed-tracing"
        ),
        .trait(
            name: "SQLite",
            description: "Keep records in a database of SQLite, by groue/GRDB.swift; on Linux it has to be installed"
        ),
        .trait(
            name: "Vips",
            description:
                "Read and write pictures by libvips, which has to be installed: WebP, GIF, AVIF, HEIF and TIFF beside JPEG and PNG"
        ),
    ],
    dependencies: [
        // What no trait asks for is not even resolved.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        // The rings, innermost first. Each names every target it imports, and none outside itself.
        .target(name: "Entities"),
        .target(name: "UseCases", dependencies: ["Entities"]),
        .target(name: "InterfaceAdapters", dependencies: ["Entities", "UseCases"]),
        .target(
            name: "Infrastructure",
            dependencies: ["Entities", "InterfaceAdapters", "UseCases"],
            resources: [.embedInCode("Sample/users.json"), .embedInCode("Sample/posts.json")]
        ),
        .target(
            name: "InfrastructureAsyncHTTPClient",
            dependencies: [
                "InterfaceAdapters", "UseCases",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOPosix", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras", condition: asyncHTTPClient),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: asyncHTTPClient),
            ]
        ),
        .target(
            name: "InfrastructureObservability",
            dependencies: [
                "InterfaceAdapters", "UseCases",
                .product(name: "Logging", package: "swift-log", condition: observability),
                .product(name: "Metrics", package: "swift-metrics", condition: observability),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: observability),
            ]
        ),
        .target(
            name: "InfrastructureSQLite",
            dependencies: [
                "Infrastructure", "InterfaceAdapters", "UseCases",
                .product(name: "GRDB", package: "GRDB.swift", condition: sqlite),
            ]
        ),
        .target(
            name: "InfrastructureVips",
            dependencies: ["UseCases", "Entities", .target(name: "CVips", condition: vips)]
        ),
        // The functions of libvips that take variable arguments, which Swift cannot call, with fixed ones. Empty without the trait.
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

        // The root, where implementations are chosen, and the program that shows it.
        .target(
            name: "Composition",
            dependencies: [
                "Entities", "UseCases", "InterfaceAdapters", "Infrastructure",
                .target(name: "InfrastructureAsyncHTTPClient", condition: asyncHTTPClient),
                .target(name: "InfrastructureVips", condition: vips),
            ]
        ),
        .executableTarget(name: "inward", dependencies: ["Composition", "Infrastructure", "InterfaceAdapters"]),

        // Writes a new subject through all rings: `swift package scaffold-subject NAME`.
        .executableTarget(name: "scaffold-subject"),
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
            dependencies: ["scaffold-subject"],
            path: "Sources/ScaffoldSubjectPlugin"
        ),

        // Doubles and conformance suites: for the tests here, and for those of whoever links the rings.
        .target(name: "InwardTesting", dependencies: ["Entities", "UseCases", "InterfaceAdapters"]),

        .testTarget(name: "EntitiesTests", dependencies: ["Entities"]),
        .testTarget(
            name: "UseCasesTests",
            dependencies: ["UseCases", "Entities", "InwardTesting", "Thoroughness"],
            exclude: ["Images/Plugins/expected.py"]
        ),
        .testTarget(
            name: "InterfaceAdaptersTests",
            dependencies: ["InterfaceAdapters", "UseCases", "Entities", "InwardTesting", "Thoroughness"]
        ),
        .testTarget(
            name: "InfrastructureTests",
            dependencies: [
                "Infrastructure", "InterfaceAdapters", "UseCases", "Entities", "InwardTesting", "LoopbackServer",
                "Thoroughness",
            ],
            exclude: ["Imaging/Fixtures"]
        ),
        .testTarget(
            name: "InfrastructureAsyncHTTPClientTests",
            dependencies: [
                "InfrastructureAsyncHTTPClient", "InterfaceAdapters", "UseCases", "InwardTesting", "LoopbackServer",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: asyncHTTPClient),
                .product(name: "NIOCore", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOPosix", package: "swift-nio", condition: asyncHTTPClient),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: asyncHTTPClient),
            ]
        ),
        .testTarget(
            name: "InfrastructureObservabilityTests",
            dependencies: [
                "InfrastructureObservability", "InterfaceAdapters", "InwardTesting",
                .product(name: "Logging", package: "swift-log", condition: observability),
                .product(name: "InMemoryLogging", package: "swift-log", condition: observability),
                .product(name: "Metrics", package: "swift-metrics", condition: observability),
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: observability),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: observability),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing", condition: observability),
            ]
        ),
        .testTarget(
            name: "InfrastructureSQLiteTests",
            dependencies: [
                "InfrastructureSQLite", "Infrastructure", "InterfaceAdapters", "InwardTesting", "Thoroughness",
                .product(name: "GRDB", package: "GRDB.swift", condition: sqlite),
            ]
        ),
        .testTarget(
            name: "InfrastructureVipsTests",
            dependencies: [
                "InfrastructureVips", "Infrastructure", "UseCases", "Entities", "InwardTesting",
                .target(name: "CVips", condition: vips),
            ]
        ),
        .testTarget(
            name: "CompositionTests",
            dependencies: [
                "Composition", "Infrastructure", "InterfaceAdapters", "UseCases", "Entities", "InwardTesting",
                "LoopbackServer",
                .target(name: "InfrastructureAsyncHTTPClient", condition: asyncHTTPClient),
            ]
        ),
        .testTarget(
            name: "InwardTestingTests",
            dependencies: ["InwardTesting", "InterfaceAdapters", "UseCases", "Entities", "Thoroughness"]
        ),
        .testTarget(name: "LayerContractTests", dependencies: ["LayerContract"]),
        .testTarget(name: "check-layersTests", dependencies: ["check-layers", "LayerContract"]),
        .testTarget(
            name: "inwardTests",
            dependencies: ["inward", "Infrastructure", "InterfaceAdapters", "InwardTesting", "LoopbackServer"]
        ),
        .testTarget(name: "scaffold-subjectTests", dependencies: ["scaffold-subject"]),

        // The gate: holds a package to the diagram of its layers.
        .target(name: "LayerContract"),
        .executableTarget(name: "check-layers", dependencies: ["LayerContract"]),
        .plugin(
            name: "CheckLayersPlugin",
            capability: .command(
                intent: .custom(verb: "check-layers", description: "Hold the package to the diagram of its layers.")
            ),
            dependencies: ["check-layers"],
            path: "Sources/CheckLayersPlugin"
        ),

        // An HTTP server on a loopback socket, for the tests of what crosses a network.
        .target(name: "LoopbackServer", path: "Tests/LoopbackServer"),

        // Whether tests go through all cases or a sample.
        .target(name: "Thoroughness", path: "Tests/Thoroughness"),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .plugin && target.type != .system && target.name != "CVips" {
    target.swiftSettings = [
        .strictMemorySafety(),  // SE-0458: what could break memory safety is marked `unsafe`.
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335: an existential says `any`.
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444: a member needs its module's import.
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409: an import is internal unless it says more.
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // SE-0461: async code stays with its caller.
    ]
    // SE-0480: one build serves every step of CI, where a flag on some of the commands would build everything again.
    if Context.environment["WARNINGS_AS_ERRORS"] != nil { target.swiftSettings?.append(.treatAllWarnings(as: .error)) }
}
