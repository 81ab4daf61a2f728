import Composition
import InwardURLSession

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The command that shows an overview of an upstream: `inward [UPSTREAM]`.
@main
struct Inward {
    static func main() async {
        // This must come first: it changes the environment, which no other task or thread may read at the same time.
        EnvironmentProxies.ignore()
        let quickLook = QuickLook(
            terminal: Terminal(
                standardOutput: AppContainer.standardOutput,
                standardError: AppContainer.standardError
            ),
            interruptions: AppContainer.interruptions
        )
        exit(await quickLook.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
