/// A package, as SwiftPM describes it.
public struct PackageDescription: Hashable, Sendable {
    /// The package's name.
    public let name: String
    /// The folder that it is in; empty if it is in none.
    public let path: String
    /// Its targets, by name.
    public var targets: [TargetDescription]

    /// A package.
    public init(name: String, path: String = "", targets: [TargetDescription]) {
        self.name = name
        self.path = path
        self.targets = targets.sorted { $0.name < $1.name }
    }
}
