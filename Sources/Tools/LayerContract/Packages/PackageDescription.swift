#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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

/// What SwiftPM printed of a package is not what was expected.
public struct PackageDescriptionError: Error, Hashable, Sendable {
    /// What is wrong, in a sentence.
    public let explanation: String

    init(_ explanation: String) {
        self.explanation = explanation
    }
}

extension PackageDescriptionError: CustomStringConvertible {
    /// What is wrong.
    public var description: String { explanation }
}

extension PackageDescription {
    /// Reads what SwiftPM says of a package.
    ///
    /// The first knows which sources belong to a target, the second which dependencies are declared, also those whose
    /// condition does not hold at the moment.
    ///
    /// - Parameters:
    ///   - description: what `swift package describe --type json` printed.
    ///   - manifest: what `swift package dump-package` printed.
    /// - Throws: a ``PackageDescriptionError`` if one of them is not understood.
    public init(description: Data, manifest: Data) throws(PackageDescriptionError) {
        let described = try Self.decode(DescribedPackage.self, from: description, of: "swift package describe")
        let dumped = try Self.decode(DumpedPackage.self, from: manifest, of: "swift package dump-package")
        let names = Set(dumped.targets.map(\.name))
        let packages = dumped.packageIdentities
        let declared = Dictionary(dumped.targets.map { ($0.name, $0) }) { first, _ in first }
        self.init(
            name: described.name,
            path: described.path,
            // Snippets are described and not declared: nobody can say what they may use.
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

/// What is read of `swift package describe --type json`.
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
