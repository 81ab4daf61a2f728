public import InwardCore

/// What a view shows of a failure: what could not be done, why, and what to try.
public struct FailureViewModel: ViewModel, Error, Hashable, CustomStringConvertible {
    /// What could not be done, as a sentence without its full stop.
    public let summary: String
    /// What was asked and what came back, likewise; `nil` if the summary says it all.
    public let cause: String?
    /// What a person can do about it, as a whole sentence; `nil` if there is nothing to do.
    public let advice: String?
    /// Whether trying again, with nothing changed, can help.
    public let canRetry: Bool

    /// Makes a failure that has no other cause.
    public init(_ summary: String, advice: String? = nil) {
        self.summary = summary
        cause = nil
        self.advice = advice
        canRetry = false
    }

    /// Makes a failure that a repository's error is the cause of.
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
    /// A request that took longer than it was allowed to.
    public static let late = Self("There was no answer in time", advice: "Try again, or allow more time.")

    /// Users that cannot be shown, such as after their session was closed.
    public static func usersNotShown(_ error: any Error) -> Self {
        Self("The users cannot be shown: \(error)", advice: "Open them again.")
    }

    /// A failure of something that cannot be had now.
    static func unavailable(_ summary: String, _ cause: RepositoryError) -> Self {
        let advice =
            if cause.reason == .closed {
                "Ask again of what is open: start the program, or sign in."
            } else if let delay = cause.retryAfter {
                "Try again in \(delay.spoken)."
            } else if cause.canRetry {
                "Check that the upstream is running and can be reached, or try again later."
            } else {
                "Check the address: it may be that of another upstream."
            }
        return Self(summary, cause: cause, advice: advice)
    }

    /// A failure for want of credentials.
    static func denied(_ summary: String, _ cause: RepositoryError) -> Self {
        Self(summary, cause: cause, advice: "Ask with credentials that the upstream accepts.")
    }

    /// A failure to understand an answer.
    static func unreadable(_ summary: String, _ cause: RepositoryError) -> Self {
        Self(
            summary,
            cause: cause,
            advice: "Check that the address is that of the upstream, and what it answers there."
        )
    }
}
