// swift-tools-version: 6.2

import PackageDescription

// A service with its own rings and names. `swift package check-layers --diagram Rings.md` checks its layers.
let package = Package(
    name: "shop",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../..")],
    targets: [
        .target(name: "Domain"),
        .target(name: "Checkout", dependencies: ["Domain"]),
        .executableTarget(name: "shop", dependencies: ["Checkout", "Domain"]),
        .testTarget(name: "CheckoutTests", dependencies: ["Checkout", "Domain"]),
    ],
    swiftLanguageModes: [.v6]
)

// SE-0444: a file can only use members of modules that it imports. The check requires this for every target in the diagram.
for target in package.targets {
    target.swiftSettings = [.enableUpcomingFeature("MemberImportVisibility")]
}
