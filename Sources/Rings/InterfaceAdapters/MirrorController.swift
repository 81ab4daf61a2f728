public import InwardCore
public import UseCases

/// A controller that creates a mirror and presents the outcome.
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
        let goesOn = "Run it again to finish it: what is there already is kept for that."
        switch error {
        case .cancelled:
            self.init("The mirror was not finished, because that was cancelled", advice: goesOn)
        case .timedOut:
            self.init("The mirror was not finished in time", advice: goesOn)
        case .unavailable(let cause):
            self.init("The upstream could not be mirrored: \(cause)", advice: goesOn)
        case .limitExceeded(let cause):
            self.init("The mirror was given up: \(cause)")
        case .unreadable(let cause):
            self.init(
                "The upstream could not be mirrored: \(cause)",
                advice: "Check that the address is that of the upstream, and what it answers there."
            )
        case .unwritable(let cause):
            self.init("The mirror could not be written: \(cause)")
        case .unkept(let cause):
            self.init("The mirror could not be kept", advice: cause.description)
        case .restless:
            self.init(
                "The upstream could not be mirrored, because it changed each time while it was being copied",
                advice: "Run it again when less is being changed there."
            )
        }
    }
}

/// The view model of a new mirror.
public struct MirrorViewModel: Hashable, Sendable {
    /// The contents of the mirror, its source, its directory and how long mirroring took, in two sentences.
    public let line: String

    init(_ report: MirrorReport, of source: String, in directory: String, after duration: Duration) {
        let itemCount = 2 + report.avatarCount
        let kept = itemCount - min(itemCount, report.transferredCount)
        line = """
            Mirrored \(source) into \(directory) in \(duration.spoken): \(report.userCount) users, \(report.postCount) posts, \
            \(report.avatarCount) images. Of \(itemCount) files \(kept) were there already, and unchanged.
            """
    }
}
