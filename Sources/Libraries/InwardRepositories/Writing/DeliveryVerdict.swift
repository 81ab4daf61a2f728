import InwardCore
import InwardFetching

/// What the outcome of an attempt to deliver a write means.
enum DeliveryVerdict: Hashable, Sendable {
    /// It was done.
    case delivered(DataResponse)
    /// It is not done, and never will be.
    case refused(RepositoryError)
    /// It is to be sent again, behind the time that the upstream asked for.
    case again(RepositoryError, after: Duration?)
}
