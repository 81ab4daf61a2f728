/// Work that the first interruption cancels.
struct InterruptibleWork<Value: Sendable> {
    /// What comes first.
    private enum Ending {
        case done(Result<Value, any Error>)
        case interrupted
        case uninterrupted
    }

    let work: @Sendable () async throws -> Value

    /// Does it. Its end is waited for also where it was cancelled.
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
