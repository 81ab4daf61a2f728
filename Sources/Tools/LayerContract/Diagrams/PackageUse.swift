/// A package that a ring may use.
public struct PackageUse: Hashable, Sendable {
    /// The package's identity, as the manifest names it.
    public let identity: String
    /// The modules that may be imported of it; empty if they are called what its products are called.
    public let modules: [String]

    /// A package that a ring may use.
    public init(_ identity: String, modules: [String] = []) {
        self.identity = identity
        self.modules = modules
    }

    /// Whether it is this package: the case of an identity means nothing to SwiftPM.
    func names(_ package: String) -> Bool { identity.lowercased() == package.lowercased() }
}
