import Foundation
import PackagePlugin

/// The `swift package scaffold-subject NAME` command plugin, which runs the tool of the same name on the package.
@main
struct ScaffoldSubjectPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let list = context.pluginWorkDirectoryURL.appending(path: "targets.json")
        try JSONEncoder().encode(ListedTarget.all(of: context.package)).write(to: list, options: .atomic)
        let tool = Process()
        tool.executableURL = try context.tool(named: "scaffold-subject").url
        tool.arguments =
            [
                "--package-path", context.package.directoryURL.path(percentEncoded: false),
                "--target-list", list.path(percentEncoded: false),
            ] + arguments
        try tool.run()
        tool.waitUntilExit()
        // The tool has already reported the error. Throwing here would report it again.
        guard tool.terminationStatus == 0 else { exit(tool.terminationStatus) }
    }
}

/// A Swift target in the format that the tool reads.
private struct ListedTarget: Encodable {
    let name: String
    let moduleName: String
    /// The path, relative to the package, or absolute for a target of another package.
    let directory: String
    let dependencies: [String]

    /// Returns the Swift targets of a package and their dependencies.
    static func all(of package: Package) -> [ListedTarget] {
        let root = package.directoryURL.path(percentEncoded: false)
        let own = package.targets.compactMap { $0 as? SwiftSourceModuleTarget }
        let ownIDs = Set(own.map(\.id))
        var others: [String: SwiftSourceModuleTarget] = [:]
        for target in own.flatMap(\.recursiveTargetDependencies) {
            guard let target = target as? SwiftSourceModuleTarget, !ownIDs.contains(target.id) else { continue }
            others[target.id] = target
        }
        return own.map { ListedTarget($0, from: root) } + others.values.map { ListedTarget($0, from: nil) }
    }

    private init(_ target: SwiftSourceModuleTarget, from root: String?) {
        name = target.name
        moduleName = target.moduleName
        let path = target.directoryURL.path(percentEncoded: false)
        let isOwn = root.map { path.hasPrefix($0) } ?? false
        // The components omit the trailing slash.
        let names = path.dropFirst(isOwn ? root?.count ?? 0 : 0).split(separator: "/").joined(separator: "/")
        directory = isOwn ? names : "/" + names
        dependencies = target.dependencies.flatMap { dependency -> [String] in
            switch dependency {
            case .target(let target): [target].compactMap(Self.moduleName)
            case .product(let product): product.targets.compactMap(Self.moduleName)
            @unknown default: []
            }
        }
    }

    private static func moduleName(_ target: any Target) -> String? {
        (target as? any SourceModuleTarget)?.moduleName
    }
}
