import InwardRepositories
public import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Publishes a post that is written in a line of JSON, and presents what came of it.
public struct PostLineController: Sendable {
    /// How many bytes a line may have: 1 MiB.
    public static let byteLimit = 1_024 * 1_024

    private let publishPost: PublishPost

    /// Makes a controller over the use case that publishes.
    public init(publishPost: PublishPost) {
        self.publishPost = publishPost
    }

    /// Publishes the post of a line such as `{"userId": 7, "title": "Notes", "body": "On the engine."}`.
    ///
    /// - Parameter line: The bytes of the line; `nil` if it is longer than a line may be.
    /// - Returns: what to show of the post; that it is pending if it is accepted, and not published yet.
    /// - Throws: what to show if it was not published, or is not known to be.
    public func callAsFunction(_ line: [UInt8]?) async throws(FailureViewModel) -> PublishedPostViewModel {
        let post = try Self.post(of: line)
        let presenter = PublishedPostPresenter()
        do {
            return presenter.present(
                try await publishPost(title: post.title.value, body: post.body.value, by: post.authorID)
            )
        } catch {
            throw presenter.present(error)
        }
    }

    private static func post(of line: [UInt8]?) throws(FailureViewModel) -> PostLineDTO {
        guard let line else {
            throw FailureViewModel(
                "This is no post: it is longer than \(byteLimit) bytes",
                advice: "Write one post a line."
            )
        }
        do {
            return try PostLineDTO.decoded(from: Data(line))
        } catch {
            throw FailureViewModel(
                "This is no post: \(error)",
                advice: #"A post is an object of JSON: {"userId": 7, "title": "…", "body": "…"}."#
            )
        }
    }
}
