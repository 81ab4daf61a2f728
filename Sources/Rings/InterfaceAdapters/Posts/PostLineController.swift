public import Entities
public import InwardCore
import InwardRepositories
public import UseCases

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A controller that publishes a post from a line of JSON, which may also name its author's new website.
///
/// ```swift
/// let publishPost = PublishPost(posts: posts, users: users, titlesUnderWay: TitleReservations())
/// let controller = PostLineController(publishPost: publishPost)
/// let line = #"{"userId": 7, "title": "Notes", "body": "On the engine."}"#
/// let post = try await controller(Array(line.utf8))
/// print(post.line)  // Published as post 101 of user 7: Notes
/// ```
public struct PostLineController: Sendable {
    /// The maximum length of a line: 1 MiB.
    public static let byteLimit = 1_024 * 1_024

    private let publishPost: PublishPost
    private let announceWebsite: AnnounceWebsite?

    /// Creates a controller with the use cases that publish posts.
    ///
    /// - Parameters:
    ///   - publishPost: Publishes a post.
    ///   - announceWebsite: Publishes a post with a website; `nil` without an outbox, which is needed to accept both together.
    public init(publishPost: PublishPost, announceWebsite: AnnounceWebsite? = nil) {
        self.publishPost = publishPost
        self.announceWebsite = announceWebsite
    }

    /// Publishes the post in a line such as `{"userId": 7, "title": "Notes", "body": "On the engine."}`. If the line has a
    /// `website`, it becomes the author's website: post and website are accepted together, or neither is.
    ///
    /// - Parameter line: The bytes of the line; `nil` if the line exceeds the maximum length.
    /// - Returns: The view model of the post, which is pending if the post was accepted but not published yet.
    /// - Throws: The failure to show if the post was not published, or may not have been.
    public func callAsFunction(_ line: [UInt8]?) async throws(FailureViewModel) -> PublishedPostViewModel {
        let post = try Self.post(of: line)
        let presenter = PublishedPostPresenter()
        if let website = post.website { return try await announce(website, post, presenter) }
        do {
            return presenter.present(
                try await publishPost(title: post.title, body: post.body, by: post.authorID)
            )
        } catch {
            throw presenter.present(error)
        }
    }

    private func announce(
        _ website: String,
        _ post: PostLineDTO,
        _ presenter: PublishedPostPresenter
    ) async throws(FailureViewModel) -> PublishedPostViewModel {
        guard let announceWebsite else {
            throw FailureViewModel(
                "The post was not published: it cannot be accepted together with a website",
                advice: "Name a directory with --store, or leave out the website."
            )
        }
        do {
            let draft = try await announceWebsite(
                website,
                title: post.title,
                body: post.body,
                by: post.authorID
            )
            return presenter.present(draft, website: website)
        } catch {
            throw presenter.present(error)
        }
    }

    private static func post(of line: [UInt8]?) throws(FailureViewModel) -> PostLineDTO {
        guard let line else {
            throw FailureViewModel(
                "This is not a post: it is longer than \(byteLimit) bytes",
                advice: "Write one post per line."
            )
        }
        do {
            return try PostLineDTO.decoded(from: Data(line))
        } catch {
            throw FailureViewModel(
                "This is not a post: \(error)",
                advice: #"A post is a JSON object: {"userId": 7, "title": "…", "body": "…"}."#
            )
        }
    }
}

/// A post in the format of a line of JSON.
struct PostLineDTO: Decodable {
    let userId: Int
    let title: String
    let body: String
    let website: String?

    var authorID: User.ID { User.ID(userId) }
}

/// A presenter that converts the results of `PublishPost` to view models.
///
/// ```swift
/// let publishPost = PublishPost(posts: posts, users: users, titlesUnderWay: TitleReservations())
/// do throws(PublishPostError) {
///     let post = try await publishPost(title: "Notes", body: "On the engine.", by: User.ID(7))
///     print(PublishedPostPresenter().present(post).line)
/// } catch {
///     print(PublishedPostPresenter().present(error).line)
/// }
/// ```
public struct PublishedPostPresenter: Sendable {
    /// Creates a presenter.
    public init() {}

    /// Returns the view model of a published or pending post.
    public func present(_ post: Reading<Post>) -> PublishedPostViewModel {
        PublishedPostViewModel(
            id: post.isPending ? nil : post.value.id.rawValue,
            pendingID: post.isPending ? post.value.id.rawValue : nil,
            authorID: post.value.authorID.rawValue,
            title: post.value.title,
            body: post.value.body,
            website: nil
        )
    }

    /// Returns the view model of a post that was accepted with a website.
    public func present(_ draft: PostDraft, website: String) -> PublishedPostViewModel {
        PublishedPostViewModel(
            id: nil,
            pendingID: nil,
            authorID: draft.authorID.rawValue,
            title: draft.title,
            body: draft.body,
            website: website
        )
    }

    /// Returns the failure to show when a website was not announced.
    public func present(_ error: AnnounceWebsiteError) -> FailureViewModel {
        switch error {
        case .blankWebsite: FailureViewModel("The post was not published", advice: "Its website must not be blank.")
        case .notPublished(let error): present(error)
        }
    }

    /// Returns the failure to show when publishing fails.
    public func present(_ error: PublishPostError) -> FailureViewModel {
        let summary = "The post was not published"
        return switch error {
        case .cancelled: FailureViewModel("Publishing was cancelled", advice: "Check whether the post was published.")
        case .invalidDraft(let error): FailureViewModel(summary, advice: error.description)
        case .unknownAuthor(let id): FailureViewModel(summary, advice: "User \(id) does not exist.")
        case .titleTaken(let title):
            FailureViewModel(summary, advice: "Its author already has a post titled “\(title)”.")
        case .unavailable(let cause): .unavailable(summary, cause)
        case .denied(let cause): .denied(summary, cause)
        case .refused(let cause):
            FailureViewModel(summary, cause: cause, advice: "Change the post, and publish it again.")
        case .unreadable(let cause): .unreadable(summary, cause)
        case .outcomeUnknown(let cause): outcomeUnknown(cause)
        }
    }

    /// Returns the failure to show when the deadline passed before the outcome was known.
    public func present(late error: DeadlinePassedError) -> FailureViewModel {
        FailureViewModel(
            "It is not known whether the post was published: \(error)",
            advice: "Look for the post before you publish it again."
        )
    }

    /// Returns the failure to show when publishing could not start, for example because a scope was closed.
    public func present(notStarted error: any Error) -> FailureViewModel {
        FailureViewModel("The post was not published: \(error)")
    }

    private func outcomeUnknown(_ cause: RepositoryError) -> FailureViewModel {
        FailureViewModel(
            "It is not known whether the post was published",
            cause: cause,
            advice: "Look for the post before you publish it again."
        )
    }
}

/// The view model of a post that was just published or accepted.
///
/// ```swift
/// func status(for post: PublishedPostViewModel) -> Int {
///     post.id == nil ? 202 : 201  // Accepted, or created.
/// }
/// ```
public struct PublishedPostViewModel: ViewModel, Hashable {
    /// The identity of the post; `nil` if it is not published yet.
    public let id: Int?
    /// The temporary identity of a pending post, unique among pending posts; `nil` if the post is published.
    public let pendingID: Int?
    /// The identity of the author.
    public let authorID: Int
    /// The title of the post.
    public let title: String
    /// The body of the post.
    public let body: String
    /// The website that was accepted with the post; `nil` if there is none.
    public let website: String?

    /// One line that says whether the post was published or accepted.
    public var line: String {
        let what =
            id.map { "Published as post \($0)" } ?? pendingID.map { "Accepted as post \($0)" }
            ?? "Accepted with the website \(website?.excerpt(upTo: 60) ?? "")"
        return "\(what) of user \(authorID): \(title.excerpt(upTo: 80))"
    }

    /// The post, and a sentence that says whether it was published or accepted.
    public var document: Document {
        let note =
            id.map { "Published as post \($0) of user \(authorID)." }
            ?? "Accepted for user \(authorID), and published as soon as the upstream accepts it."
        return Document(title: title, blocks: [.heading(title), .paragraph(body), .notes([note])])
    }
}
