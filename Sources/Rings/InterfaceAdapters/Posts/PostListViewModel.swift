public import InwardCore
import Synchronization
public import UseCases

/// A list of posts to be seen: a state that changes as it is told to, for any number of observers.
///
/// Any task may send intents and observe; nothing here needs the main thread. Close it when nobody needs it any more, so that
/// what it is loading has an end that is waited for.
public final class PostListViewModel: Sendable {
    private struct Contents {
        var loads: PostListLoads
        var tasks: [Int: Task<Void, Never>] = [:]
        var observers: [Int: AsyncStream<PostListState>.Continuation] = [:]
        var nextObserver = 0
        var isClosed = false
    }

    /// What begins with an intent, if anything does, and what it puts an end to.
    private typealias Begun = (task: Task<Void, Never>?, superseded: [Task<Void, Never>])

    private let contents: Mutex<Contents>
    private let readFeed: @Sendable (FeedQuery, ReadPolicy) async throws(ReadFeedError) -> FeedPage

    /// Makes a list that shows nothing yet.
    ///
    /// - Parameters:
    ///   - presenter: What makes the posts ready to be seen.
    ///   - readFeed: What reads them.
    public init(
        presenter: FeedPresenter = FeedPresenter(),
        readFeed: @escaping @Sendable (FeedQuery, ReadPolicy) async throws(ReadFeedError) -> FeedPage
    ) {
        contents = Mutex(Contents(loads: PostListLoads(presenter: presenter)))
        self.readFeed = readFeed
    }

    deinit {
        for observer in contents.withLock(\.observers.values) { observer.finish() }
    }

    /// What is to be seen now. Once the list is closed, that it is.
    public var state: PostListState { contents.withLock(\.loads.state) }

    /// How many observers are still there to be told of changes.
    var observerCount: Int { contents.withLock(\.observers.count) }

    /// What is to be seen: now, and then after every change, until the list is closed.
    ///
    /// For one reader; any number may ask for one of their own. Who is slower than the changes sees the newest, and not those
    /// in between.
    public var states: AsyncStream<PostListState> {
        let (states, observer) = AsyncStream.makeStream(of: PostListState.self, bufferingPolicy: .bufferingNewest(1))
        let number = contents.withLock { contents -> Int? in
            guard !contents.isClosed else { return nil }
            defer { contents.nextObserver += 1 }
            contents.observers[contents.nextObserver] = observer
            observer.yield(contents.loads.state)
            return contents.nextObserver
        }
        guard let number else {
            observer.finish()
            return states
        }
        observer.onTermination = { [weak self] _ in
            self?.contents.withLock { _ = $0.observers.removeValue(forKey: number) }
        }
        return states
    }

    /// Does what is wanted, and waits until that has become of it what will: shown, failed, or superseded by a later intent.
    ///
    /// A later intent cancels what an earlier one is loading, whose answer is not shown any more. If the task that asks is
    /// cancelled, so is the load.
    ///
    /// - Throws: what to show if the list is closed.
    public func send(_ intent: PostListIntent) async throws(FailureViewModel) {
        let (task, superseded) = try contents.withLock { contents throws(FailureViewModel) -> Begun in
            guard !contents.isClosed else { throw Self.closed }
            guard let load = change(&contents, { $0.begin(intent) }) else { return (nil, []) }
            let superseded = Array(contents.tasks.values)
            // Unstructured, because it is cancelled by three: by a later intent, by the close of the list, which waits for
            // it, and by the task that asks, which does so too.
            let task = Task { await perform(load) }
            contents.tasks[load.number] = task
            return (task, superseded)
        }
        // Not within the lock, which what is called by a cancellation may take itself.
        for task in superseded { task.cancel() }
        guard let task else { return }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Ends every observer's sequence and what is being loaded, and waits for the end of that.
    public func close() async {
        let (tasks, observers) = contents.withLock { contents in
            contents.isClosed = true
            contents.loads.close(showing: Self.closed)
            return (Array(contents.tasks.values), Array(contents.observers.values))
        }
        // Not within the lock, which an observer that ends takes itself, and maybe what is called by a cancellation.
        for observer in observers { observer.finish() }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private static let closed = FailureViewModel("The list of posts is closed", advice: "Open the feed again.")

    private func perform(_ load: PostListLoads.Load) async {
        let result = await Result(awaiting: { () async throws(ReadFeedError) in
            try await readFeed(load.query, load.policy)
        })
        contents.withLock { contents in
            contents.tasks[load.number] = nil
            change(&contents) { $0.finish(load, with: result) }
        }
    }

    /// Changes what is to be seen, and tells every observer, in the order of the changes.
    private func change<Answer>(_ contents: inout Contents, _ change: (inout PostListLoads) -> Answer) -> Answer {
        let earlier = contents.loads.state
        let answer = change(&contents.loads)
        let state = contents.loads.state
        if !contents.isClosed, state != earlier {
            for observer in contents.observers.values { observer.yield(state) }
        }
        return answer
    }
}

extension PostListViewModel {
    /// Loads the posts, and refreshes them again and again until the task is cancelled, or the list is found closed.
    ///
    /// - Parameters:
    ///   - interval: How long it waits behind each answer, or failure.
    ///   - clock: What it waits by.
    /// - Throws: what to show if the list is closed.
    public func keepRefreshing(every interval: Duration, on clock: any Clock<Duration>) async throws(FailureViewModel) {
        try await send(.load)
        while (try? await clock.sleep(for: interval)) != nil {
            try await send(.refresh)
        }
    }
}

/// What somebody who sees a list of posts can want of it.
public enum PostListIntent: Hashable, Sendable {
    /// The newest posts, from the nearest place that has them.
    case load
    /// As many posts as there are to be seen, as the source has them now.
    case refresh
    /// The newest posts with this text in them; `nil` for all posts.
    case filter(String?)
    /// The posts that follow on those to be seen.
    case loadMore
}

/// What is to be seen of a list of posts.
public enum PostListState: Equatable, Sendable {
    /// Nobody has asked for posts yet.
    case idle
    /// Posts are being asked for; meanwhile the last ones that came are to be seen, if any did.
    case loading(lastGood: FeedViewModel?)
    /// The posts, with where they came from.
    case loaded(FeedViewModel)
    /// The posts could not be had; the last ones that came are still to be seen, if any did.
    case failed(FailureViewModel, lastGood: FeedViewModel?)

    /// The posts to be seen: those that came last.
    public var posts: FeedViewModel? {
        switch self {
        case .idle: nil
        case .loaded(let posts): posts
        case .loading(let posts), .failed(_, let posts): posts
        }
    }

    /// The posts with what is happening to them, in one document.
    public var document: Document {
        let remark =
            switch self {
            case .idle: "No posts have been asked for."
            case .loading: "Asking for posts …"
            case .loaded(let posts): "Read \(posts.postsRead) posts (from \(posts.origin))."
            case .failed(let failure, nil): failure.line
            case .failed(let failure, _?): "\(failure.line) Above is what came last."
            }
        let list = posts?.document
        return Document(
            title: list?.title ?? "Feed",
            blocks: (list?.blocks ?? []) + [.paragraph(remark)]
        )
    }
}
