public import Synchronization

/// Work that runs in its own task and is cancelled if it is revoked or its caller is cancelled. The caller always waits
/// for the work to end.
@usableFromInline
package struct CancellableTask<Value: Sendable, Failure: Error>: Sendable {
    /// The state of the work. The first end wins.
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

        /// Records an end, unless another one came first.
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

    /// Creates work that has not started.
    ///
    /// - Parameters:
    ///   - executor: The executor for the work. `nil` selects the default executor.
    ///   - work: The work.
    @inlinable
    package init(
        executor: (any TaskExecutor)? = nil,
        _ work: @escaping @Sendable () async throws(Failure) -> Value
    ) {
        self.executor = executor
        self.work = work
    }

    /// Runs the work and waits for it.
    ///
    /// - Parameter arm: A closure that receives a function that revokes the work, and returns a function that disarms
    ///   it. It is not called if the work completes without suspending.
    /// - Returns: What the work returned or threw, or `nil` if it was revoked first, whatever its result.
    @inlinable
    package func outcome(
        cancelledBy arm: (_ revoke: @escaping @Sendable () -> Void) -> () -> Void
    ) async -> Result<Value, Failure>? {
        let shared = Shared()
        // Unstructured, because a group costs several times as much and only a task can be cancelled. The caller waits
        // for the task and forwards its own cancellation.
        let task = begin { [work] in _ = shared.settle(.ended(await Result(awaiting: work))) }
        // Fast path: work that is answered from memory has usually completed by now.
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
            // Starts on the current thread, so that work moves to another thread only if it suspends.
            return Task.immediate(executorPreference: executor, operation: operation)
        }
        return Task(executorPreference: executor, operation: operation)
    }
}

extension Result where Success: Sendable {
    /// Runs asynchronous work and stores its outcome with a typed error.
    ///
    /// Use it with `async let`, which loses the error type: start two operations, then await each result.
    @inlinable
    package init(awaiting work: () async throws(Failure) -> Success) async {
        do {
            self = .success(try await work())
        } catch {
            self = .failure(error)
        }
    }
}
