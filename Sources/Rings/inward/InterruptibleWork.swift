import Infrastructure
import InterfaceAdapters
import InwardRepositories

/// Work that the first interruption cancels.
struct InterruptibleWork<Value: Sendable> {
    /// The event that occurs first.
    private enum Ending {
        case done(Result<Value, any Error>)
        case interrupted
        case uninterrupted
    }

    let work: @Sendable () async throws -> Value

    /// Runs the work, and waits until it has ended even if it was cancelled.
    func run(until interruptions: AsyncStream<Void>) async throws -> Value {
        let ending = await withTaskGroup(of: Ending.self) { group -> Result<Value, any Error>? in
            group.addTask { .done(await Result { try await work() }) }
            group.addTask {
                for await _ in interruptions { return .interrupted }
                return .uninterrupted
            }
            for await ending in group {
                switch ending {
                case .done(let result):
                    group.cancelAll()
                    return result
                case .interrupted: group.cancelAll()
                case .uninterrupted: break
                }
            }
            return nil
        }
        guard let ending else { throw CancellationError() }
        return try ending.get()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ work: () async throws -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}

/// The run of `--publish`, which publishes a post for each line of the input until the user interrupts it.
struct PublishRun {
    let terminal: Terminal
    let lines: InputLines
    let publish: @Sendable ([UInt8]?) async throws(FailureViewModel) -> PublishedPostViewModel
    /// Waits for the delivery of accepted posts, within a time limit. Returns `nil` if there is no store, so that every post is
    /// published at once.
    let deliver: @Sendable () async throws -> DeliveryViewModel?

    /// Publishes until the input ends, and prints the outcome of each line before it reads the next.
    ///
    /// The first interruption cancels the line that is being published. After that, no line is read, and no delivery is
    /// awaited. The next start delivers the accepted posts.
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
                // Empty lines between or after posts are skipped.
                guard line.bytes?.isEmpty != true else { continue }
                let (said, isLost) = await publish(line)
                if said != .success { exitCode = said }
                // Once an outcome could not be printed, no further posts are accepted.
                if isLost { return exitCode }
            }
        } catch {
            return terminal.fail(error.description)
        }
        guard !Task.isCancelled else {
            return terminal.fail("Interrupted after line \(lastNumber): later lines were not read.")
        }
        return exitCode
    }

    /// Publishes a line and prints the outcome. Also returns whether printing the outcome failed.
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

/// The run of `--mirror`, which creates a mirror until it is complete or the user interrupts it.
struct MirrorRun {
    let terminal: Terminal
    let makeMirror: @Sendable () async throws -> MirrorViewModel

    /// Creates the mirror and prints its contents. On the first interruption, cancels the work and waits until it has ended.
    func run(until interruptions: AsyncStream<Void>) async throws -> ExitCode {
        do {
            let mirror = try await InterruptibleWork(work: makeMirror).run(until: interruptions)
            return terminal.print(line: mirror.line)
        } catch let failure as FailureViewModel {
            return terminal.fail(failure.line)
        }
    }
}
