import Foundation
import PackagePlugin

/// The `swift package check-layers` command plugin, which checks a package against its layer diagram.
@main
struct CheckLayersPlugin: CommandPlugin {
    /// Runs the command on the plugin's package.
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
        // The command has already reported the error, so do not throw another one. SwiftPM turns every failure into exit status
        // 1.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
