import Infrastructure
import InterfaceAdapters
import InwardRepositories

/// Publishes a post for each line of the input, one after the other, until the user interrupts.
struct PublishRun {
    let terminal: Terminal
    let lines: InputLines
    let publish: @Sendable ([UInt8]?) async throws(FailureViewModel) -> PublishedPostViewModel
    /// Gives what was accepted some time to be delivered; `nil` if nothing is accepted before it is published.
    let deliver: @Sendable () async throws -> DeliveryViewModel?

    /// Publishes until the input ends, and says of each line what became of it before the next is read.
    ///
    /// The first interruption cancels the line that is being published, and nothing more is read or awaited. The next start delivers
    /// what was accepted.
    func run(until interruptions: AsyncStream<Void>) async throws -> ExitCode {
        try await InterruptibleWork { try await publishAll() }.run(until: interruptions)
    }

    private func publishAll() async throws -> ExitCode {
        let published = await publishLines()
        guard let delivery = try await deliver() else { return published }
        let printed = terminal.print(line: delivery.line)
        return delivery.refusedCount > 0 || printed != .success ? .failure : published
    }

    private func publishLines() async -> ExitCode {
        var exitCode = ExitCode.success
        var lastNumber = 0
        do throws(StandardInputError) {
            for try await line in lines {
                lastNumber = line.number
                // Empty lines between posts, or after the last, are skipped.
                guard line.bytes?.isEmpty != true else { continue }
                let (said, isLost) = await publish(line)
                if said != .success { exitCode = said }
                // No further promise is made once one could not be printed.
                if isLost { return exitCode }
            }
        } catch {
            return terminal.fail(error.description)
        }
        guard !Task.isCancelled else {
            return terminal.fail("Interrupted behind line \(lastNumber): what comes then was not read.")
        }
        return exitCode
    }

    /// Publishes a line and says what became of it; whether that could not be said is given too.
    private func publish(_ line: InputLine) async -> (ExitCode, isLost: Bool) {
        do throws(FailureViewModel) {
            let post = try await publish(line.bytes)
            let exitCode = terminal.print(line: "Line \(line.number): \(post.line)")
            return (exitCode, isLost: exitCode != .success)
        } catch {
            return (terminal.fail("Line \(line.number): \(error.line)"), isLost: false)
        }
    }
}
