// swift-tools-version: 6.2

import PackageDescription

/// The fuzz targets, and the modules that each one imports. Few modules keep builds short, which matters under sanitizers.
///
/// Each target has a corpus of the same name. `./run TARGET SECONDS` builds and runs it. A new target also needs an entry point
/// in `FuzzerDriver.c`, and a maximum input length in `run`.
let targets: KeyValuePairs = [
    "fuzz-addresses": ["InwardFetching"],
    "fuzz-http-cache": ["InwardFetching"],
    "fuzz-http-fields": ["InwardFetching"],
    "fuzz-inflate": ["InwardImageCodecs"],
    "fuzz-jpeg": ["InwardImageCodecs", "InwardImages"],
    "fuzz-json-records": ["Entities", "InterfaceAdapters", "InwardCore", "InwardFetching", "InwardRepositories"],
    "fuzz-outbox-entries": ["InwardCore", "InwardFetching", "InwardRepositories"],
    "fuzz-png": ["InwardImageCodecs", "InwardImages"],
    "fuzz-record-log": ["InwardFileStores", "InwardRepositories"],
    "fuzz-redirects": ["InwardFetching", "InwardRepositories"],
    "fuzz-structured-fields": ["InwardFetching"],
    "fuzz-text": ["InwardImages", "InwardVips"],
    "fuzz-tiff": ["InwardImages", "InwardImageCodecs", "InwardVips"],
    "fuzz-vips": ["InwardImages", "InwardVips"],
]

let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    traits: [.trait(name: "Vips", description: "Fuzz the code over libvips and Pango, which must be installed")],
    dependencies: [
        .package(name: "inward", path: "..", traits: [.trait(name: "Vips", condition: .when(traits: ["Vips"]))])
    ],
    targets: [.target(name: "FuzzerDriver")]
        + targets.map { name, modules in
            .executableTarget(
                name: name,
                dependencies: ["FuzzerDriver"] + modules.map { .product(name: $0, package: "inward") },
                swiftSettings: [
                    .enableUpcomingFeature("ExistentialAny"),
                    .enableUpcomingFeature("MemberImportVisibility"),
                    .enableUpcomingFeature("InternalImportsByDefault"),
                    // The fuzzer provides the entry point.
                    .unsafeFlags(["-sanitize=fuzzer", "-parse-as-library"]),
                ],
                linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])]
            )
        },
    swiftLanguageModes: [.v6]
)
