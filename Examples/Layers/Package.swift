// swift-tools-version: 6.2

import PackageDescription

// A service with rings and names of its own: `swift package check-layers --diagram Rings.md` holds it to them.
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

// SE-0444: a file uses members only of modules that it imports. The check asks it of every target in the diagram.
for target in package.targets {
    target.swiftSettings = [.enableUpcomingFeature("MemberImportVisibility")]
}
