public import InwardCore

/// The view model of a failure: what failed, why, and what to do about it.
///
/// ```swift
/// let failure = FailureViewModel("The draft was not saved", advice: "Shorten its title.")
/// print(failure.line)  // The draft was not saved. Shorten its title.
/// ```
public struct FailureViewModel: ViewModel, Error, Hashable, CustomStringConvertible {
    /// What failed, as a sentence without its final period.
    public let summary: String
    /// The request and its outcome, as a sentence without its final period; `nil` if the summary says everything.
    public let cause: String?
    /// What a person can do about it, as a complete sentence; `nil` if there is nothing to do.
    public let advice: String?
    /// Whether a retry without changes can succeed.
    public let canRetry: Bool

    /// Creates a failure without an underlying cause.
    public init(_ summary: String, advice: String? = nil) {
        self.summary = summary
        cause = nil
        self.advice = advice
        canRetry = false
    }

    /// Creates a failure caused by a repository error.
    public init(_ summary: String, cause: RepositoryError, advice: String) {
        self.summary = summary
        self.cause = cause.description
        self.advice = advice
        canRetry = cause.canRetry
    }

    /// The whole failure in one line.
    public var line: String {
        let sentence = cause.map { "\(summary): \($0)" } ?? summary
        return advice.map { "\(sentence). \($0)" } ?? "\(sentence)."
    }

    /// The whole failure in one line.
    public var description: String { line }

    /// The failure as a paragraph.
    public var document: Document {
        Document(title: summary, blocks: [.paragraph(line)])
    }
}

extension FailureViewModel {
    /// The failure of a request that exceeded its time limit.
    public static let late = Self("There was no answer in time", advice: "Try again, or allow more time.")

    /// Returns the failure to show when users cannot be shown, for example because their session was closed.
    public static func usersNotShown(_ error: any Error) -> Self {
        Self("The users cannot be shown: \(error)", advice: "Open them again.")
    }

    /// Returns a failure for something that is not available now.
    static func unavailable(_ summary: String, _ cause: RepositoryError) -> Self {
        let advice =
            if cause.reason == .closed {
                "Start the program again, or sign in again."
            } else if let delay = cause.retryAfter {
                "Try again in \(delay.spoken)."
            } else if cause.canRetry {
                "Check that the upstream is running and can be reached, or try again later."
            } else {
                "Check the address: it may belong to another upstream."
            }
        return Self(summary, cause: cause, advice: advice)
    }

    /// Returns a failure for missing or insufficient credentials.
    static func denied(_ summary: String, _ cause: RepositoryError) -> Self {
        Self(summary, cause: cause, advice: "Sign in with credentials that the upstream accepts.")
    }

    /// Returns a failure for an answer that cannot be read.
    static func unreadable(_ summary: String, _ cause: RepositoryError) -> Self {
        Self(
            summary,
            cause: cause,
            advice: "Check the address, and what the upstream returns there."
        )
    }
}
