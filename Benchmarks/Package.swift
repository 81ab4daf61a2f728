// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "inward", path: "..", traits: ["AsyncHTTPClient"]),
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
                .product(name: "InterfaceAdapters", package: "inward"),
                .product(name: "UseCases", package: "inward"),
            ]
        ),
        // Runs every decorator at once over a bad upstream, for as long as it is told to.
        .executableTarget(
            name: "soak",
            dependencies: [
                .product(name: "InterfaceAdapters", package: "inward"),
                .product(name: "InwardTesting", package: "inward"),
                .product(name: "UseCases", package: "inward"),
            ]
        ),
        .executableTarget(
            name: "loopback",
            dependencies: [
                "Comparing",
                .product(name: "InterfaceAdapters", package: "inward"),
                .product(name: "Infrastructure", package: "inward"),
                .product(name: "InfrastructureAsyncHTTPClient", package: "inward"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            ]
        ),
        .executableTarget(
            name: "simultaneous",
            dependencies: [
                "Comparing",
                .product(name: "InterfaceAdapters", package: "inward"),
                .product(name: "InfrastructureAsyncHTTPClient", package: "inward"),
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
