public import Synchronization

/// A piece of work that is cancelled when it is revoked or its caller is cancelled, and waited for.
@usableFromInline
package struct CancellableTask<Value: Sendable, Failure: Error>: Sendable {
    /// How it ended, told by whatever comes first.
    @usableFromInline
    enum Progress: Sendable {
        case underWay
        case ended(Result<Value, Failure>)
        case revoked
    }

    @usableFromInline
    final class Shared: Sendable {
        @usableFromInline let progress: Mutex<Progress>

        @inlinable
        init() {
            progress = Mutex(.underWay)
        }

        @inlinable var now: Progress { progress.withLock { $0 } }

        /// Ends it, unless something else has.
        @inlinable
        func settle(_ end: Progress) -> Bool {
            progress.withLock { progress in
                guard case .underWay = progress else { return false }
                progress = end
                return true
            }
        }
    }

    @usableFromInline let work: @Sendable () async throws(Failure) -> Value

    @usableFromInline let executor: (any TaskExecutor)?

    /// Work that has not begun.
    ///
    /// - Parameters:
    ///   - executor: Where the work is done; `nil` for wherever there is room.
    ///   - work: What is done.
    @inlinable
    package init(
        executor: (any TaskExecutor)? = nil,
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) {
        self.executor = executor
        self.work = work
    }

    /// Does the work.
    ///
    /// - Parameter arm: Is given what revokes the work, for whoever is to call that, and gives what calls that off. It is not
    ///   called for work that is done without a wait.
    /// - Returns: what the work gives or throws; `nil` if it was revoked first, whatever it came to then.
    @inlinable
    package func outcome(
        cancelledBy arm: (_ revoke: @escaping @Sendable () -> Void) -> () -> Void
    ) async -> Result<Value, Failure>? {
        let shared = Shared()
        // Unstructured, because only a task can be cancelled, and a group costs several times as much. Its caller waits for it,
        // and hands its own cancellation on.
        let task = begin { [work] in _ = shared.settle(.ended(await Result(awaiting: work))) }
        // Most of what is answered from memory is done by now, and nobody had to wait for it.
        if case .ended(let result) = shared.now { return result }
        let disarm = arm { if shared.settle(.revoked) { task.cancel() } }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        disarm()
        return if case .ended(let result) = shared.now { result } else { nil }
    }

    @inlinable
    func begin(_ operation: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
        if #available(macOS 26, iOS 26, watchOS 26, tvOS 26, *) {
            // Begins here and now, so that nothing is handed to another thread unless it has to wait.
            return Task.immediate(executorPreference: executor, operation: operation)
        }
        return Task(executorPreference: executor, operation: operation)
    }
}

extension Result where Success: Sendable {
    /// Runs a piece of asynchronous work and keeps how it ended, with the type of its error.
    ///
    /// For `async let`, which forgets the type of an error: two pieces of work run at once and each is asked for its
    /// result.
    @inlinable
    package init(awaiting work: () async throws(Failure) -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
