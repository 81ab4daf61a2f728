import Composition
import InwardFetching
import InwardScopes
import InwardTesting
import Testing

struct ScopeDescriptionTests {
    @Test func treeShowsObjectsAndTheirReferences() async throws {
        let app = try await AppContainer.example(Source.recording())
        let ada = try await UserContainer(UserSession(name: "ada", credentials: .bearer("secret")), in: app)
        let bob = try await UserContainer(UserSession(name: "bob", credentials: .bearer("secret")), in: app)
        let feed = try await FeedContainer(in: ada)
        _ = try feed.makeInteraction()
        _ = try ada.images
        #if Vips
        // This codec is a class instance, so the tree shows references to it.
        let (codec, heldCodec) = ("VipsImageCodec", "app.imageCodec, ")
        #else
        let (codec, heldCodec) = ("SwiftImageCodec", "")
        #endif
        #expect(
            app.description == """
                app the built-in sample (open)
                  configuration: AppConfiguration
                  timer: TimerService
                  errorHandler: can be replaced → drops repeats within 60.0 seconds → ends
                  protection: UpstreamProtection
                  dataFetcher: RecordingDataFetcher
                  upstream: SessionUpstream, holds dataFetcher, timer
                  imageOrigins: OriginProtections, holds timer
                  imageFetcher: RecordingDataFetcher
                  responseCache: ResponseCache
                  endpoints: Array<AnyEndpoint>
                  imageCodec: \(codec)
                  imageCache: ImageCache, holds timer
                  decodingBudget: DecodingBudget
                  titlesUnderWay: TitleReservations
                  interactionNumbers: InteractionNumbers
                  session ada (open)
                    session: UserSession
                    cachePartition: Partition, holds app.responseCache
                    upstream: Upstream, holds app.dataFetcher, cachePartition, app.timer
                    repositories: RepositorySet, holds app.timer
                    users: Result<UpstreamUserRepository, RepositoryError>, holds app.timer
                    posts: Result<UpstreamPostRepository, RepositoryError>, holds app.timer
                    images: ImageLoader, holds \(heldCodec)app.timer, app.imageCache, app.decodingBudget, app.dataFetcher, \
                app.responseCache
                    userOrder: UserOrder
                    interactionParts: InteractionParts, holds app.titlesUnderWay, app.errorHandler, \
                app.interactionNumbers, app.timer
                    feature feed (open)
                      viewModel: PostListViewModel, not used yet
                      interaction 1 (open)
                        session: Objects, holds session.cachePartition, app.dataFetcher, app.timer, \
                session.repositories, session.userOrder, app.titlesUnderWay, app.errorHandler, app.interactionNumbers
                        deadline: Deadline, holds app.timer
                  session bob (open)
                    session: UserSession
                    cachePartition: Partition, holds app.responseCache
                    upstream: Upstream, holds app.dataFetcher, cachePartition, app.timer
                    repositories: RepositorySet, holds app.timer
                    users: Result<UpstreamUserRepository, RepositoryError>, holds app.timer
                    posts: Result<UpstreamPostRepository, RepositoryError>, holds app.timer
                    images: ImageLoader, not used yet
                    userOrder: UserOrder
                    interactionParts: InteractionParts, holds app.titlesUnderWay, app.errorHandler, \
                app.interactionNumbers, app.timer
                """
        )
        try await bob.close()
        #expect(bob.description == "session bob (closed)")
        #expect(!app.description.contains("bob"))
        try await app.close()
        #expect(app.description == "app the built-in sample (closed)")
    }

    @Test func objectIsListedOnceInTheScopeThatOwnsIt() async throws {
        final class Store: Sendable {}
        final class Reader: Sendable {
            let stores: [Store]
            init(_ stores: [Store]) { self.stores = stores }
        }
        struct Objects: Sendable {
            let store: Store
            let reader: Reader
        }
        let limit = ClosingLimit(.seconds(5), on: ManualClock())
        let app = await Scope<AppLifetime, Objects>.open("example", limit: limit) { _ in
            let store = Store()
            return Objects(store: store, reader: Reader([store, store]))
        }
        let shared = try app.objects().store
        let objects = Objects(store: shared, reader: Reader([shared]))
        _ = try Scope<SessionLifetime, Objects>("ada", in: app, objects: objects)
        #expect(
            app.description == """
                app example (open)
                  store: Store
                  reader: Reader, holds store
                  session ada (open)
                    store: app.store
                    reader: Reader, holds app.store
                """
        )
    }
}
