#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A package as SwiftPM describes it.
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
    ///   - description: the output of `swift package describe --type json`.
    ///   - manifest: the output of `swift package dump-package`.
    /// - Throws: a ``PackageDescriptionError`` if either output cannot be decoded.
    public init(description: Data, manifest: Data) throws(PackageDescriptionError) {
        let described = try Self.decode(DescribedPackage.self, from: description, of: "swift package describe")
        let dumped = try Self.decode(DumpedPackage.self, from: manifest, of: "swift package dump-package")
        let names = Set(dumped.targets.map(\.name))
        let packages = dumped.packageIdentities
        let declared = Dictionary(dumped.targets.map { ($0.name, $0) }) { first, _ in first }
        self.init(
            name: described.name,
            path: described.path,
            // Snippets are described but not declared, so the manifest does not say what they may use.
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
                "What “\(command)” printed is not understood: \(error). It is \(data.count) bytes and begins with “\(beginning)”"
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
