public import InwardCore
public import UseCases

/// A controller that creates a mirror and presents the outcome.
///
/// ```swift
/// func mirror(_ controller: MirrorController) async throws(FailureViewModel) {
///     let mirror = try await controller { progress in print(progress) }
///     print(mirror.line)
/// }
/// ```
public struct MirrorController: Sendable {
    private let createMirror: CreateMirror
    private let source: String
    private let directory: String
    private let stopwatch: Stopwatch

    /// Creates a controller.
    ///
    /// - Parameters:
    ///   - createMirror: The use case that creates the mirror.
    ///   - source: The name of the upstream, such as `the built-in sample`.
    ///   - directory: The directory of the mirror.
    ///   - stopwatch: Measures how long mirroring takes.
    public init(createMirror: CreateMirror, source: String, directory: String, stopwatch: Stopwatch) {
        self.createMirror = createMirror
        self.source = source
        self.directory = directory
        self.stopwatch = stopwatch
    }

    /// Creates the mirror.
    ///
    /// - Parameter progress: Called after each item with a line that contains a progress bar.
    /// - Returns: The summary to show.
    /// - Throws: The failure to show if no new mirror was published.
    public func callAsFunction(
        progress: (String) -> Void = { _ in }
    ) async throws(FailureViewModel) -> MirrorViewModel {
        let start = stopwatch.elapsed
        do throws(CreateMirrorError) {
            let report = try await createMirror { done, total in
                progress("Mirroring \(ProgressBar(done: done, total: total))")
            }
            return MirrorViewModel(report, of: source, in: directory, after: stopwatch.elapsed - start)
        } catch {
            throw FailureViewModel(error)
        }
    }
}

extension FailureViewModel {
    fileprivate init(_ error: CreateMirrorError) {
        let goesOn = "Run it again to resume: it reuses the files that were copied."
        switch error {
        case .cancelled:
            self.init("Mirroring was cancelled", advice: goesOn)
        case .timedOut:
            self.init("Mirroring did not finish in time", advice: goesOn)
        case .unavailable(let cause):
            self.init("The upstream could not be mirrored: \(cause)", advice: goesOn)
        case .limitExceeded(let cause):
            self.init("Mirroring stopped at a limit: \(cause)")
        case .unreadable(let cause):
            self.init(
                "The upstream could not be mirrored: \(cause)",
                advice: "Check the address, and what the upstream returns there."
            )
        case .unwritable(let cause):
            self.init("The mirror could not be written: \(cause)")
        case .unkept(let cause):
            self.init("The mirror could not be stored", advice: cause.description)
        case .restless:
            self.init(
                "The upstream could not be mirrored, because it changed during every attempt",
                advice: "Run it again when it changes less often."
            )
        }
    }
}

/// The view model of a new mirror.
///
/// ```swift
/// func report(_ mirror: MirrorViewModel) {
///     print(mirror.line)  // Mirrored the built-in sample into mirror in 1.2 s: 10 users, 100 posts, …
/// }
/// ```
public struct MirrorViewModel: Hashable, Sendable {
    /// The contents of the mirror, its source, its directory and how long mirroring took, in two sentences.
    public let line: String

    init(_ report: MirrorReport, of source: String, in directory: String, after duration: Duration) {
        let itemCount = 2 + report.avatarCount
        let kept = itemCount - min(itemCount, report.transferredCount)
        line = """
            Mirrored \(source) into \(directory) in \(duration.spoken): \(report.userCount) users, \(report.postCount) posts, \
            \(report.avatarCount) images. \(kept) of \(itemCount) files were already up to date.
            """
    }
}
