import Foundation
import PackagePlugin

/// `swift package check-layers`: holds the package to the diagram of its layers.
@main
struct CheckLayersPlugin: CommandPlugin {
    /// Runs the command over the package that the plugin is run for.
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try context.tool(named: "check-layers").url
        process.arguments =
            [
                "--package-path", context.package.directoryURL.path,
                "--scratch-path", context.pluginWorkDirectoryURL.appending(path: "build").path,
            ] + arguments
        try process.run()
        process.waitUntilExit()
        // The command has said why; SwiftPM makes 1 of every other status.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
