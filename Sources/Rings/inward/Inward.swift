import Composition
import InwardURLSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The quick look at an upstream: `inward [UPSTREAM]`.
@main
struct Inward {
    static func main() async {
        // Before anything else: no task or thread of the program has begun that could read the environment.
        EnvironmentProxies.ignore()
        let quickLook = QuickLook(
            terminal: Terminal(
                standardOutput: AppContainer.standardOutput,
                standardError: AppContainer.standardError
            ),
            interruptions: AppContainer.interruptions
        )
        exit(await quickLook.run(CommandLine.arguments.dropFirst()).rawValue)
    }
}
