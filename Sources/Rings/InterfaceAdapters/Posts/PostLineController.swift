public import Entities
public import InwardCore
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

/// A post as somebody writes it in a line of JSON.
struct PostLineDTO: Decodable {
    let userId: FieldDTO<Int>
    let title: FieldDTO<String>
    let body: FieldDTO<String>

    var authorID: User.ID { User.ID(userId.value) }
}

/// Turns what `PublishPost` answers into what a view shows.
public struct PublishedPostPresenter: Sendable {
    /// Makes a presenter.
    public init() {}

    /// What to show of a post that was published, or is pending.
    public func present(_ post: Reading<Post>) -> PublishedPostViewModel {
        PublishedPostViewModel(
            id: post.isPending ? nil : post.value.id.rawValue,
            pendingID: post.isPending ? post.value.id.rawValue : nil,
            authorID: post.value.authorID.rawValue,
            title: post.value.title,
            body: post.value.body
        )
    }

    /// What to show of a failure to publish.
    public func present(_ error: PublishPostError) -> FailureViewModel {
        let summary = "The post was not published"
        return switch error {
        case .cancelled: FailureViewModel("Publishing was cancelled", advice: "Look whether the post is there.")
        case .invalidDraft(let error): FailureViewModel(summary, advice: error.description)
        case .unknownAuthor(let id): FailureViewModel(summary, advice: "There is no user \(id) to publish it for.")
        case .titleTaken(let title): FailureViewModel(summary, advice: "Its author has a post “\(title)” already.")
        case .unavailable(let cause): .unavailable(summary, cause)
        case .denied(let cause): .denied(summary, cause)
        case .refused(let cause):
            FailureViewModel(summary, cause: cause, advice: "The upstream does not take this post.")
        case .unreadable(let cause): .unreadable(summary, cause)
        case .outcomeUnknown(let cause): outcomeUnknown(cause)
        }
    }

    /// What to show if the time was up before it was known whether the post was published.
    public func present(late error: DeadlinePassedError) -> FailureViewModel {
        FailureViewModel(
            "It is not known whether the post was published: \(error)",
            advice: "Look whether it is there before you publish it again."
        )
    }

    /// What to show if publishing could not begin, such as after a scope was closed.
    public func present(notStarted error: any Error) -> FailureViewModel {
        FailureViewModel("The post was not published: \(error)")
    }

    private func outcomeUnknown(_ cause: RepositoryError) -> FailureViewModel {
        FailureViewModel(
            "It is not known whether the post was published",
            cause: cause,
            advice: "Look whether it is there before you publish it again."
        )
    }
}

/// What a view shows of a post that was just published.
public struct PublishedPostViewModel: ViewModel, Hashable {
    /// The identity the post got; `nil` if it is not published yet.
    public let id: Int?
    /// The identity by which it is found until it is published, such as in the feed; `nil` if it is. No other post that is pending
    /// has the same.
    public let pendingID: Int?
    /// The identity of its author.
    public let authorID: Int
    /// What the post is called.
    public let title: String
    /// What the post says.
    public let body: String

    /// That it is published, or accepted, in one line.
    public var line: String {
        let what = id.map { "Published as post \($0)" } ?? pendingID.map { "Accepted as post \($0)" } ?? "Accepted"
        return "\(what) of user \(authorID): \(title.excerpt(upTo: 80))"
    }

    /// A sentence that says so, and the post.
    public var document: Document {
        let note =
            id.map { "Published as post \($0) of user \(authorID)." }
            ?? "Accepted for user \(authorID), and published as soon as the upstream takes it."
        return Document(title: title, blocks: [.heading(title), .paragraph(body), .notes([note])])
    }
}
