// swift-tools-version: 6.2

import PackageDescription

/// What is fuzzed here: each target has a corpus of its name, and is built and run by `./run TARGET SECONDS`.
let targets = ["fuzz-jpeg", "fuzz-png"]

let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "inward", path: "..")],
    targets: [.target(name: "FuzzerDriver")]
        + targets.map { name in
            .executableTarget(
                name: name,
                dependencies: [
                    "FuzzerDriver",
                    .product(name: "Entities", package: "inward"),
                    .product(name: "Infrastructure", package: "inward"),
                    .product(name: "UseCases", package: "inward"),
                ],
                swiftSettings: [
                    .enableUpcomingFeature("ExistentialAny"),
                    .enableUpcomingFeature("MemberImportVisibility"),
                    .enableUpcomingFeature("InternalImportsByDefault"),
                    // The fuzzer has the entry point.
                    .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"]),
                ],
                linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]
            )
        },
    swiftLanguageModes: [.v6]
)
