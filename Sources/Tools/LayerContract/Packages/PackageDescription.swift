#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A package as SwiftPM describes it.
///
/// ```swift
/// import Foundation
///
/// func package(described: Data, dumped: Data) throws -> PackageDescription {
///     // The output of `swift package describe --type json` and of `swift package dump-package`.
///     try PackageDescription(description: described, manifest: dumped)
/// }
/// ```
public struct PackageDescription: Hashable, Sendable {
    /// The name of the package.
    public let name: String
    /// The directory of the package; empty if it has none.
    public let path: String
    /// The targets, by name.
    public var targets: [TargetDescription]

    /// Creates a package description.
    public init(name: String, path: String = "", targets: [TargetDescription]) {
        self.name = name
        self.path = path
        self.targets = targets.sorted { $0.name < $1.name }
    }
}

/// An error for unexpected output of SwiftPM.
///
/// ```swift
/// import Foundation
///
/// func package(described: Data, dumped: Data) -> PackageDescription? {
///     do {
///         return try PackageDescription(description: described, manifest: dumped)
///     } catch {
///         print(error)
///         return nil
///     }
/// }
/// ```
public struct PackageDescriptionError: Error, Hashable, Sendable {
    /// A sentence that describes the problem.
    public let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

extension PackageDescriptionError: CustomStringConvertible {
    /// A description of the problem.
    public var description: String { explanation }
}

extension PackageDescription {
    /// Creates a description from the output of SwiftPM.
    ///
    /// The two outputs complement each other. `describe` lists the sources of each target, and `dump-package` lists the
    /// declared dependencies, including those whose condition does not currently hold.
    ///
    /// - Parameters:
    ///   - description: The output of `swift package describe --type json`.
    ///   - manifest: The output of `swift package dump-package`.
    /// - Throws: A ``PackageDescriptionError`` if either output cannot be decoded.
    public init(description: Data, manifest: Data) throws(PackageDescriptionError) {
        let described = try Self.decode(DescribedPackage.self, from: description, of: "swift package describe")
        let dumped = try Self.decode(DumpedPackage.self, from: manifest, of: "swift package dump-package")
        let names = Set(dumped.targets.map(\.name))
        let packages = dumped.packageIdentities
        let declared = Dictionary(dumped.targets.map { ($0.name, $0) }) { first, _ in first }
        self.init(
            name: described.name,
            path: described.path,
            // Snippets are skipped: they are described, but not declared, so the manifest does not name their dependencies.
            targets: described.targets.compactMap { target in
                guard let manifest = declared[target.name] else { return nil }
                return TargetDescription(
                    name: target.name,
                    moduleName: target.c99name,
                    kind: target.kind,
                    language: target.language,
                    path: target.path,
                    sources: target.sources,
                    dependencies: manifest.resolved(among: names, packages),
                    settings: manifest.buildSettings,
                    publicHeaders: manifest.publicHeadersPath ?? "include",
                    libraryNames: manifest.libraryNames,
                    checksMemberImports: target.language != .swift || target.kind == .plugin
                        || dumped.checksMemberImports(of: manifest)
                )
            }
        )
    }

    private static func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        of command: String
    ) throws(PackageDescriptionError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: data)
        } catch {
            let beginning = String(decoding: data.prefix(300), as: UTF8.self)
            throw PackageDescriptionError(
                "The output of “\(command)” cannot be read: \(error). It has \(data.count) bytes and begins with “\(beginning)”"
            )
        }
    }
}

/// The decoded parts of `swift package describe --type json`.
struct DescribedPackage: Decodable {
    struct Target: Decodable {
        let name: String
        let c99name: String
        let type: String
        let moduleType: String
        let path: String
        let sources: [String]

        private enum CodingKeys: String, CodingKey {
            case name, c99name, type, path, sources
            case moduleType = "module_type"
        }

        var language: TargetDescription.Language {
            switch moduleType {
            case "SwiftTarget", "PluginTarget": .swift
            case "ClangTarget": .c
            case "SystemLibraryTarget": .moduleMap
            default: .none
            }
        }

        var kind: TargetDescription.Kind {
            switch type {
            case "test": .test
            case "plugin": .plugin
            case "macro": .macro
            case "executable": .executable
            case "library" where moduleType == "SwiftTarget": .library
            default: .other
            }
        }
    }

    let name: String
    let path: String
    let targets: [Target]
}

/// A target of a package, as SwiftPM describes it.
///
/// ```swift
/// func facts(of target: TargetDescription, reading: (String) throws -> [UInt8]) throws -> [SourceFacts] {
///     try target.sources.map { source in
///         let path = "\(target.path)/\(source)"
///         return try SourceFacts(reading: reading(path), path: path, target: target.name, subject: target.subject(of: source))
///     }
/// }
/// ```
public struct TargetDescription: Hashable, Sendable {
    /// The kind of a target.
    public enum Kind: Hashable, Sendable {
        /// A Swift library.
        case library
        /// An executable.
        case executable
        /// A test target.
        case test
        /// A SwiftPM plugin.
        case plugin
        /// A macro.
        case macro
        /// Any other target: C sources, a system library, or a binary.
        case other
    }

    /// The language of a target's sources.
    public enum Language: Hashable, Sendable {
        /// Swift.
        case swift
        /// C, C++, or Objective-C.
        case c
        /// A module map for system headers.
        case moduleMap
        /// No sources, as in a binary target.
        case none
    }

    /// The name in the manifest.
    public let name: String
    /// The name that sources import the target by.
    public let moduleName: String
    /// The kind of the target.
    public let kind: Kind
    /// The language of the sources.
    public let language: Language
    /// The target's folder, relative to the package root.
    public let path: String
    /// The sources, relative to the target's folder.
    public let sources: [String]
    /// The declared dependencies, regardless of their conditions.
    public var dependencies: [TargetDependency]
    /// The declared build settings, regardless of their conditions.
    public var settings: [BuildSetting]
    /// The folder of a C target's public headers, relative to the target's folder.
    public let publicHeaders: String
    /// The names of a system library in pkg-config and package managers.
    public let libraryNames: [String]
    /// Whether the compiler rejects members of modules that a file does not import. Also `true` if the target cannot enable this.
    public let checksMemberImports: Bool

    /// Creates a target description.
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

    /// Returns the top-level folder of the target that contains a source, or `nil` if the source is not in a folder.
    public func subject(of source: String) -> String? {
        guard let slash = source.firstIndex(of: "/") else { return nil }
        return String(source[..<slash])
    }

    /// The name of the target that a test target is named after: `Core` for `CoreTests`.
    public var testedName: String? {
        kind == .test && name.hasSuffix("Tests") ? String(name.dropLast("Tests".count)) : nil
    }
}

/// A declared dependency of a target.
///
/// ```swift
/// let adapters = TargetDescription(
///     name: "Adapters",
///     dependencies: [.target("Core"), .product("NIOCore", package: "swift-nio", aliases: [])]
/// )
/// ```
public enum TargetDependency: Hashable, Sendable {
    /// Another target of the package.
    case target(String)
    /// A product of another package, with the module names that `moduleAliases` assigns.
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
    /// The package of the dependency, or `nil` if it is a target of the same package.
    var package: String? {
        switch self {
        case .target: nil
        case .product(_, let package, _), .plugin(_, let package): package
        }
    }
}

/// A build setting that a target declares in the manifest.
///
/// ```swift
/// let zip = TargetDescription(
///     name: "Zip",
///     settings: [BuildSetting(.linkedLibrary("z"), for: .linker), BuildSetting(.unsafeFlags(["-O3"]), for: .c)]
/// )
/// ```
public struct BuildSetting: Hashable, Sendable {
    /// The tool that a setting applies to.
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

    /// The effect of a setting.
    public enum Kind: Hashable, Sendable {
        /// Links a library.
        case linkedLibrary(String)
        /// Links a framework.
        case linkedFramework(String)
        /// Passes flags that SwiftPM does not check to the tool.
        case unsafeFlags([String])
        /// Adds a header search path, relative to the target's folder.
        case headerSearchPath(String)
        /// Enables an upcoming Swift feature.
        case upcomingFeature(String)
        /// Sets the Swift language mode.
        case swiftLanguageMode(String)
    }

    /// The tool that the setting applies to.
    public let tool: Tool
    /// The effect of the setting.
    public let kind: Kind
    /// Whether the setting depends on a condition, such as a platform or a trait.
    public let isConditional: Bool

    /// Creates a build setting.
    public init(_ kind: Kind, for tool: Tool, isConditional: Bool = false) {
        self.kind = kind
        self.tool = tool
        self.isConditional = isConditional
    }
}
