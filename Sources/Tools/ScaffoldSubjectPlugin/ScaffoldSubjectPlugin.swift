import Foundation
import PackagePlugin

/// `swift package scaffold-subject NAME`: has the tool of that name write into the package it is called in.
@main
struct ScaffoldSubjectPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let tool = Process()
        tool.executableURL = try context.tool(named: "scaffold-subject").url
        tool.arguments = ["--package-path", context.package.directoryURL.path(percentEncoded: false)] + arguments
        try tool.run()
        tool.waitUntilExit()
        // The tool has said what is wrong: an error thrown from here would say it again.
        guard tool.terminationStatus == 0 else { exit(tool.terminationStatus) }
    }
}
