import InterfaceAdapters

/// Makes a mirror, unless somebody interrupts.
struct MirrorRun {
    /// What comes first.
    private enum Ending {
        case done(Result<MirrorViewModel, any Error>)
        case interrupted
        case uninterrupted
    }

    let terminal: Terminal
    let makeMirror: @Sendable () async throws -> MirrorViewModel

    /// Makes the mirror and says what it has. The first interruption cancels that, and its end is waited for.
    func run(until interruptions: AsyncStream<Void>) async throws -> ExitCode {
        let ending = await withTaskGroup(of: Ending.self) { group -> Result<MirrorViewModel, any Error>? in
            group.addTask { .done(await Result { try await makeMirror() }) }
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
        do {
            guard let mirror = try ending?.get() else { return .failure }
            return terminal.print(mirror.line + "\n")
        } catch let failure as FailureViewModel {
            return terminal.fail(failure.line)
        }
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
