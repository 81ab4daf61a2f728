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
