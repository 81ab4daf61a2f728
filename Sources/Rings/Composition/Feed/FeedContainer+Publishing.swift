public import InterfaceAdapters
import InwardCore

extension FeedContainer {
    /// Publishes a post that is written in a line of JSON, in an interaction of its own.
    ///
    /// Where the session has an outbox the post is accepted when this returns: neither a killed process nor a loss of power undoes
    /// that, as far as the app's store says so.
    ///
    /// - Parameters:
    ///   - line: The bytes of the line; `nil` if it is longer than a line may be.
    ///   - limit: How much time there is for it; `nil` for as much as the configuration says.
    /// - Returns: what to show of the post; that it is pending if it is accepted, and not published yet.
    /// - Throws: what to show if it was not published, or is not known to be.
    public func publish(
        line: [UInt8]?,
        within limit: Duration? = nil
    ) async throws(FailureViewModel) -> PublishedPostViewModel {
        do {
            return try await withInteraction(within: limit) { try await $0.publishLine(line) }
        } catch let failure as FailureViewModel {
            throw failure
        } catch let error as DeadlinePassedError {
            throw FailureViewModel(
                "It is not known whether the post was published: \(error)",
                advice: "Look whether it is there before you publish it again."
            )
        } catch {
            throw FailureViewModel("The post was not published: \(error)")
        }
    }
}
