// swift-tools-version: 6.2

import PackageDescription

/// The fuzz targets. Each has a corpus of its name, and `./run TARGET SECONDS` builds and runs it.
///
/// A new target also needs its entry point in `FuzzerDriver.c`, and its longest input in `run`.
let targets = [
    "fuzz-http-fields",
    "fuzz-inflate",
    "fuzz-jpeg",
    "fuzz-json-records",
    "fuzz-outbox-entries",
    "fuzz-png",
    "fuzz-record-log",
    "fuzz-redirects",
    "fuzz-tiff",
    "fuzz-vips",
]

let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    traits: [.trait(name: "Vips", description: "Fuzz the codec that reads by libvips, which has to be installed")],
    dependencies: [
        .package(name: "inward", path: "..", traits: [.trait(name: "Vips", condition: .when(traits: ["Vips"]))])
    ],
    targets: [.target(name: "FuzzerDriver")]
        + targets.map { name in
            .executableTarget(
                name: name,
                dependencies: [
                    "FuzzerDriver",
                    .product(name: "Entities", package: "inward"),
                    .product(name: "Infrastructure", package: "inward"),
                    .product(name: "InfrastructureVips", package: "inward"),
                    .product(name: "InterfaceAdapters", package: "inward"),
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
