import InterfaceAdapters

/// Makes a mirror, until it is complete or the user interrupts.
struct MirrorRun {
    let terminal: Terminal
    let makeMirror: @Sendable () async throws -> MirrorViewModel

    /// Makes the mirror and says what it has. The first interruption cancels that, and its end is waited for.
    func run(until interruptions: AsyncStream<Void>) async throws -> ExitCode {
        do {
            let mirror = try await InterruptibleWork(work: makeMirror).run(until: interruptions)
            return terminal.print(line: mirror.line)
        } catch let failure as FailureViewModel {
            return terminal.fail(failure.line)
        }
    }
}
