/// A target of a package, as SwiftPM describes it.
public struct TargetDescription: Hashable, Sendable {
    /// What a target is.
    public enum Kind: Hashable, Sendable {
        /// A library of Swift sources.
        case library
        /// A program.
        case executable
        /// Tests.
        case test
        /// A plugin of SwiftPM.
        case plugin
        /// A macro.
        case macro
        /// Anything else: C sources, a system library, a binary.
        case other
    }

    /// The target's name in the manifest.
    public let name: String
    /// The name that it is imported by.
    public let moduleName: String
    /// What it is.
    public let kind: Kind
    /// Its folder, from the package's root.
    public let path: String
    /// Its sources, from its folder.
    public let sources: [String]
    /// The dependencies that the manifest declares, whatever their conditions.
    public var dependencies: [TargetDependency]

    /// A target of a package.
    public init(
        name: String,
        moduleName: String? = nil,
        kind: Kind = .library,
        path: String? = nil,
        sources: [String] = [],
        dependencies: [TargetDependency] = []
    ) {
        self.name = name
        self.moduleName = moduleName ?? name
        self.kind = kind
        self.path = path ?? "\(kind == .test ? "Tests" : "Sources")/\(name)"
        self.sources = sources
        self.dependencies = dependencies
    }

    /// The folder directly in the target's folder that a source is in.
    public func subject(of source: String) -> String? {
        guard let slash = source.firstIndex(of: "/") else { return nil }
        return String(source[..<slash])
    }

    /// The target that a test target is called after: `Core` of `CoreTests`.
    public var testedName: String? {
        kind == .test && name.hasSuffix("Tests") ? String(name.dropLast("Tests".count)) : nil
    }
}
