import Entities
import Foundation
import InterfaceAdapters
import InwardCore
import InwardFetching
import InwardFileStores
import InwardRepositories
import InwardScopes
import InwardURLSession
import UseCases

/// A service that reads and writes comments, an entity that Inward does not define.
@main
struct OwnEntity {
    /// The objects of Ada's session in one process of the service.
    struct Discussion {
        let app: AppScope<Void>
        let session: SessionScope<Void>
        let read: ReadDiscussion
        let reply: Reply
        let comments: any CommentRepository
    }

    // MARK: The wiring

    static func open(_ url: URL, _ line: Line, _ tokens: TokenService, _ directory: URL) async throws -> Discussion {
        let client = line.protecting(by: .standard)
        var configuration = AppScopeConfiguration(
            Upstream(baseURL: url, dataFetcher: client),
            store: FileRecordStore(directory: directory),
            endpoints: [AnyEndpoint(.comments)]
        )
        configuration.errorHandler = IgnoringErrorHandler().logging { print("   ! \($0)") }
        let app = await AppScope("comments", configuration)
        let credentials = SessionCredentials.refreshing { try await tokens.current() }
        let session = try await app.signIn(as: "ada", credentials: credentials)
        let comments = UpstreamCommentRepository(try session.repository(.comments))
        return Discussion(
            app: app,
            session: session,
            read: ReadDiscussion(comments: comments),
            reply: Reply(comments: comments),
            comments: comments
        )
    }

    // MARK: The program

    static func main() async {
        guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]), url.host() != nil
        else {
            print("usage: OwnEntity URL")
            exit(2)
        }
        let directory = URL.temporaryDirectory.appending(component: "own-entity-\(UUID())", directoryHint: .isDirectory)
        var status: Int32 = 0
        do {
            try await run(url, directory)
        } catch {
            print("OwnEntity: \(error)")
            status = 1
        }
        try? FileManager.default.removeItem(at: directory)
        exit(status)
    }

    static func run(_ url: URL, _ directory: URL) async throws {
        let line = Line(URLSessionDataFetcher())
        let client = URLSessionDataFetcher().timingOut(after: .seconds(5))
        let tokens = TokenService(url, client)

        var ada = try await open(url, line, tokens, directory)
        print("1. Read")
        print("   Post 7 has \(try await ada.read(7).value.count) comments.")
        show(try await ada.comments.comment(5))

        print("2. Edit offline")
        line.isCut = true
        let reply = try await ada.reply(to: 7, by: "ada", "Well said.")
        try await ada.reply.correct(reply.value.id, to: "Very well said.")
        try await ada.reply.correct(5, to: "Corrected on a train.")
        try await ada.reply.takeBack(6)
        for entry in try ada.session.outbox?.pending ?? [] { print("   pending: \(entry)") }
        show(try await ada.comments.comment(reply.value.id))

        print("3. Restart, and deliver")
        try await ada.app.close()
        line.isCut = false
        ada = try await open(url, line, tokens, directory)
        print("   \(try await ada.session.deliver(within: .seconds(20))) writes are still pending.")
        show(try await ada.comments.comment(5))
        if let newest = try await ada.read(7).value.first { print("   The newest comment on post 7: \(newest.body)") }

        print("4. Conflict")
        show(try await ada.session.repository(.comments).entity(8, .upstreamOnly))
        line.isCut = true
        try await ada.reply.correct(8, to: "Mine.")
        try await changeAsAnotherUser(8, at: url, client, tokens)
        line.isCut = false
        try (ada.session.outbox as? Outbox)?.retryNow()
        print("   \(try await ada.session.deliver(within: .seconds(20))) writes are still pending.")
        show(try await ada.session.repository(.comments).entity(8, .upstreamOnly))

        print("5. Renew an expired token")
        let before = await tokens.count
        await tokens.waitUntilExpired()
        show(try await ada.session.repository(.comments).entity(9, .upstreamOnly))
        print("   Tokens issued since then: \(await tokens.count - before).")
        try await ada.app.close()
    }

    static func show(_ reading: Reading<Comment>) {
        let comment = reading.value
        let body = comment.body.split(separator: "\n").first ?? ""
        print("   \(comment.id): \(body) (\(reading.isPending ? "pending" : "from \(reading.origin)"))")
    }

    static func changeAsAnotherUser(
        _ id: Int,
        at url: URL,
        _ client: any DataFetcher,
        _ tokens: TokenService
    ) async throws {
        var request = DataRequest(
            method: .patch,
            url: url.appending(path: "comments/\(id)"),
            headerFields: [HeaderField(.contentType, "application/json")]
        )
        request.headerFields.append(try await tokens.current().field)
        request.body = Data(#"{"body": "Theirs."}"#.utf8)
        let response = try await client.fetch(request)
        guard response.status.isSuccess else { throw FetchError(response, to: request) }
    }
}
