/// The decoded parts of `swift package dump-package`.
struct DumpedPackage: Decodable {
    struct Target: Decodable {
        let name: String
        let dependencies: [DumpedDependency]
        let pluginUsages: [DumpedDependency]?
        let settings: [DumpedSetting]?
        let publicHeadersPath: String?
        let pkgConfig: String?
        let providers: [[String: [[String]]]]?

        /// The build settings that the rules check.
        var buildSettings: [BuildSetting] { (settings ?? []).compactMap(\.setting) }

        /// The names of a system library in pkg-config and in the package managers that install it.
        var libraryNames: [String] {
            let packages = (providers ?? []).flatMap { $0.values.flatMap { $0.flatMap(\.self) } }
            return (pkgConfig.map { [$0] } ?? []) + packages
        }

        /// Returns the dependencies, resolving names without a kind to a target or to a package's product.
        func resolved(among targets: Set<String>, _ packages: [String]) -> [TargetDependency] {
            dependencies.map { $0.resolved(among: targets, packages) }
                + (pluginUsages ?? []).map { $0.resolved(among: targets, packages) }
        }
    }

    struct ToolsVersion: Decodable {
        private enum CodingKeys: String, CodingKey {
            case version = "_version"
        }

        let version: String
    }

    let targets: [Target]
    let toolsVersion: ToolsVersion?
    let swiftLanguageVersions: [String]?
    let dependencies: [[String: [PackageReference]]]

    struct PackageReference: Decodable {
        let identity: String
    }

    /// The identities of the packages that the manifest names.
    var packageIdentities: [String] { dependencies.flatMap { $0.values.flatMap { $0.map(\.identity) } } }
}

extension DumpedPackage {
    private static let feature = "MemberImportVisibility"

    /// Returns whether the compiler rejects members of modules that a file does not import (SE-0444), or has no such option.
    ///
    /// According to `swiftc -print-supported-features`, the feature is on in language mode 7 and off in 6. Manifests can enable
    /// upcoming features starting with tools version 5.8.
    func checksMemberImports(of target: Target) -> Bool {
        let tools = Self.numbers(in: toolsVersion?.version ?? "")
        guard let major = tools.first, !tools.lexicographicallyPrecedes([5, 8]) else { return true }
        var modes = (swiftLanguageVersions ?? []).compactMap { Self.numbers(in: $0).first }
        for setting in target.buildSettings where !setting.isConditional {
            switch setting.kind {
            case .upcomingFeature(Self.feature): return true
            case .unsafeFlags(let flags) where setting.tool == .swift && flags.contains(Self.feature): return true
            case .swiftLanguageMode(let mode): modes = Self.numbers(in: mode).first.map { [$0] } ?? modes
            default: break
            }
        }
        return (modes.max() ?? major) >= 7
    }

    private static func numbers(in version: String) -> [Int] { version.split(separator: ".").compactMap { Int($0) } }
}

/// A dependency in the output of `swift package dump-package`: a list whose format depends on its key.
struct DumpedDependency: Decodable {
    private enum CodingKeys: String, CodingKey {
        case byName, target, product, plugin
    }

    private enum Form {
        case byName, target, product, plugin
    }

    private let form: Form
    private let name: String
    private let package: String?
    private let aliases: [String]

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let key: CodingKeys
        if container.contains(.target) {
            (form, key) = (.target, .target)
        } else if container.contains(.product) {
            (form, key) = (.product, .product)
        } else if container.contains(.plugin) {
            (form, key) = (.plugin, .plugin)
        } else {
            (form, key) = (.byName, .byName)
        }
        var list = try container.nestedUnkeyedContainer(forKey: key)
        name = try list.decode(String.self)
        let namesPackage = form == .product || form == .plugin
        package = namesPackage ? try list.decode(String?.self) : nil
        aliases = form == .product ? try list.decode([String: String]?.self).map { $0.values.sorted() } ?? [] : []
    }

    func resolved(among targets: Set<String>, _ packages: [String]) -> TargetDependency {
        switch form {
        case .target: .target(name)
        case .byName where targets.contains(name): .target(name)
        case .byName: .product(name, package: Self.package(of: name, packages), aliases: [])
        case .product: .product(name, package: package ?? Self.package(of: name, packages), aliases: aliases)
        case .plugin: package.map { .plugin(name, package: $0) } ?? .target(name)
        }
    }

    /// Returns the package of a product that does not name one: the package with the product's name, or the only package.
    private static func package(of product: String, _ packages: [String]) -> String {
        packages.first { $0.lowercased() == product.lowercased() } ?? (packages.count == 1 ? packages[0] : product)
    }
}

/// A build setting in the output of `swift package dump-package`, such as
/// `{"kind": {"linkedLibrary": {"_0": "z"}}, "tool": "linker"}`.
struct DumpedSetting: Decodable {
    private enum CodingKeys: String, CodingKey {
        case tool, kind, condition
    }

    /// The values of a setting: a string, a list of strings, or a value that no rule checks.
    private struct Values: Decodable {
        private enum CodingKeys: String, CodingKey {
            case first = "_0"
        }

        let strings: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            if let string = try? container.decode(String.self, forKey: .first) {
                strings = [string]
            } else {
                strings = (try? container.decode([String].self, forKey: .first)) ?? []
            }
        }
    }

    /// The setting, or `nil` if no rule checks it.
    let setting: BuildSetting?

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let kinds = try container.decode([String: Values].self, forKey: .kind)
        let isConditional = container.contains(.condition)
        guard let tool = BuildSetting.Tool(rawValue: try container.decode(String.self, forKey: .tool)),
            let (name, values) = kinds.first, let kind = Self.kind(name, values.strings)
        else {
            setting = nil
            return
        }
        setting = BuildSetting(kind, for: tool, isConditional: isConditional)
    }

    private static func kind(_ name: String, _ values: [String]) -> BuildSetting.Kind? {
        switch (name, values.first) {
        case ("unsafeFlags", _): .unsafeFlags(values)
        case ("linkedLibrary", let value?): .linkedLibrary(value)
        case ("linkedFramework", let value?): .linkedFramework(value)
        case ("headerSearchPath", let value?): .headerSearchPath(value)
        case ("enableUpcomingFeature", let value?): .upcomingFeature(value)
        case ("swiftLanguageMode", let value?): .swiftLanguageMode(value)
        default: nil
        }
    }
}
