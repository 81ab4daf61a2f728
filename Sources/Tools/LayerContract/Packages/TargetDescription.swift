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

    /// What the sources of a target are.
    public enum Language: Hashable, Sendable {
        /// Swift.
        case swift
        /// C, C++ or Objective-C.
        case c
        /// A module map around headers of the system.
        case moduleMap
        /// Not sources: a binary.
        case none
    }

    /// The target's name in the manifest.
    public let name: String
    /// The name that it is imported by.
    public let moduleName: String
    /// What it is.
    public let kind: Kind
    /// What its sources are.
    public let language: Language
    /// Its folder, from the package's root.
    public let path: String
    /// Its sources, from its folder.
    public let sources: [String]
    /// The dependencies that the manifest declares, whatever their conditions.
    public var dependencies: [TargetDependency]
    /// The build settings that the manifest declares, whatever their conditions.
    public var settings: [BuildSetting]
    /// The folder of the headers that a C target shows, from its own folder.
    public let publicHeaders: String
    /// What pkg-config and package managers call a system library.
    public let libraryNames: [String]
    /// Whether the compiler refuses the members of modules that a file does not import, where it can be told to.
    public let checksMemberImports: Bool

    /// A target of a package.
    public init(
        name: String,
        moduleName: String? = nil,
        kind: Kind = .library,
        language: Language? = nil,
        path: String? = nil,
        sources: [String] = [],
        dependencies: [TargetDependency] = [],
        settings: [BuildSetting] = [],
        publicHeaders: String = "include",
        libraryNames: [String] = [],
        checksMemberImports: Bool = true
    ) {
        self.name = name
        self.moduleName = moduleName ?? name
        self.kind = kind
        self.language = language ?? (kind == .other ? .none : .swift)
        self.path = path ?? "\(kind == .test ? "Tests" : "Sources")/\(name)"
        self.sources = sources
        self.dependencies = dependencies
        self.settings = settings
        self.publicHeaders = publicHeaders
        self.libraryNames = libraryNames
        self.checksMemberImports = checksMemberImports
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

/// A dependency that a target declares.
public enum TargetDependency: Hashable, Sendable {
    /// Another target of the package.
    case target(String)
    /// A product of another package, with the names that its modules are given by `moduleAliases`.
    case product(String, package: String, aliases: [String])
    /// A plugin of another package.
    case plugin(String, package: String)

    /// The name in the manifest.
    var name: String {
        switch self {
        case .target(let name), .product(let name, _, _), .plugin(let name, _): name
        }
    }
}

extension TargetDependency {
    /// The package that it is of, if it is of another one.
    var package: String? {
        switch self {
        case .target: nil
        case .product(_, let package, _), .plugin(_, let package): package
        }
    }
}

/// A build setting that a target declares in the manifest.
public struct BuildSetting: Hashable, Sendable {
    /// The tool that a setting is for.
    public enum Tool: String, Hashable, Sendable, CaseIterable {
        /// The C compiler.
        case c
        /// The C++ compiler.
        case cxx
        /// The Swift compiler.
        case swift
        /// The linker.
        case linker
    }

    /// What a setting does.
    public enum Kind: Hashable, Sendable {
        /// Links a library.
        case linkedLibrary(String)
        /// Links a framework.
        case linkedFramework(String)
        /// Passes flags to the tool that SwiftPM does not check.
        case unsafeFlags([String])
        /// Adds a folder that headers are searched in, by its path from the target's folder.
        case headerSearchPath(String)
        /// Enables an upcoming feature of Swift.
        case upcomingFeature(String)
        /// Sets the language mode of Swift.
        case swiftLanguageMode(String)
    }

    /// The tool that it is for.
    public let tool: Tool
    /// What it does.
    public let kind: Kind
    /// Whether it holds only under a condition, such as a platform or a trait.
    public let isConditional: Bool

    /// A build setting.
    public init(_ kind: Kind, for tool: Tool, isConditional: Bool = false) {
        self.kind = kind
        self.tool = tool
        self.isConditional = isConditional
    }
}
