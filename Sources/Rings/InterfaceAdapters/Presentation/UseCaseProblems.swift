import InwardCore
public import InwardFetching
public import UseCases

// The responses with which a server reports the errors of use cases. The texts for errors of repositories are fixed, without names
// or URLs of the upstream. Report the error itself to an error handler.

extension ProblemDetails {
    /// Creates the response for a failed read. The client has asked for something valid, so if the upstream says that it has
    /// not, the upstream is at fault.
    fileprivate init(reading cause: RepositoryError) {
        self =
            switch cause.reason.code {
            case .notFound, .refused, .conflict, .outcomeUnknown: .unreadable
            case .cancelled, .closed, .unavailable, .denied, .unreadable: ProblemDetails(cause)
            }
    }

    fileprivate static func titleTaken(_ title: String) -> Self {
        Self(409, detail: "The author already has a post with the title “\(title)”. Choose another.")
    }
}

extension ListUsersError: ProblemDetailsConvertible {
    /// The response with which a server reports the error: that of the cause, or 503 if the task was cancelled.
    public var problemDetails: ProblemDetails {
        switch self {
        case .cancelled: .unavailable
        case .unavailable(let cause), .denied(let cause), .unreadable(let cause): ProblemDetails(reading: cause)
        }
    }
}

extension ShowUserError: ProblemDetailsConvertible {
    /// The response with which a server reports the error: 404 if the user does not exist, that of the cause, or 503 if the task
    /// was cancelled.
    public var problemDetails: ProblemDetails {
        switch self {
        case .cancelled: .unavailable
        case .notFound(let id): ProblemDetails(.notFound, detail: "There is no user \(id).")
        case .unavailable(let cause), .denied(let cause), .unreadable(let cause): ProblemDetails(reading: cause)
        }
    }
}

extension ShowPostError: ProblemDetailsConvertible {
    /// The response with which a server reports the error: 404 if the post does not exist, that of the cause, or 503 if the task
    /// was cancelled.
    public var problemDetails: ProblemDetails {
        switch self {
        case .cancelled: .unavailable
        case .notFound(let id): ProblemDetails(.notFound, detail: "There is no post \(id).")
        case .unavailable(let cause), .denied(let cause), .unreadable(let cause): ProblemDetails(reading: cause)
        }
    }
}

extension ReadFeedError: ProblemDetailsConvertible {
    /// The response with which a server reports the error: 400 for a page size that is not allowed, that of the cause, or 503 if
    /// the task was cancelled.
    public var problemDetails: ProblemDetails {
        switch self {
        case .cancelled: .unavailable
        case .pageSizeOutOfRange(let size):
            ProblemDetails(
                400,
                detail: "A page has from \(FeedQuery.pageSizes.lowerBound) to \(FeedQuery.pageSizes.upperBound) posts, "
                    + "not \(size)."
            )
        case .unavailable(let cause), .denied(let cause), .unreadable(let cause): ProblemDetails(reading: cause)
        }
    }
}

extension PublishPostError: ProblemDetailsConvertible {
    /// The response with which a server reports the error: 422 for a post that violates a rule or has no author, 409 for a title
    /// that is taken, that of the cause, or 504 if the task was cancelled, because the post may have been published.
    public var problemDetails: ProblemDetails {
        switch self {
        case .cancelled: .outcomeUnknown
        case .invalidDraft(let error): ProblemDetails(422, detail: "\(error)")
        case .unknownAuthor(let id): ProblemDetails(422, detail: "There is no user \(id), so nothing can be published.")
        case .titleTaken(let title): .titleTaken(title)
        case .unavailable(let cause), .denied(let cause), .refused(let cause), .unreadable(let cause),
            .outcomeUnknown(let cause):
            ProblemDetails(cause)
        }
    }
}

extension ChangePostError: ProblemDetailsConvertible {
    /// The response with which a server reports the error: 404 if the post does not exist, 412 if the client expects another
    /// version, 422 for a post that violates a rule, 409 for a title that is taken, that of the cause, or 504 if the task was
    /// cancelled, because the post may have been changed.
    public var problemDetails: ProblemDetails {
        switch self {
        case .cancelled: .outcomeUnknown
        case .notFound(let id): ProblemDetails(.notFound, detail: "There is no post \(id).")
        case .changedElsewhere:
            ProblemDetails(412, detail: "The post was changed in the meantime. Read it again, and then change it.")
        case .invalidDraft(let error): ProblemDetails(422, detail: "\(error)")
        case .titleTaken(let title): .titleTaken(title)
        case .unavailable(let cause), .denied(let cause), .refused(let cause), .unreadable(let cause),
            .outcomeUnknown(let cause):
            ProblemDetails(cause)
        }
    }
}
