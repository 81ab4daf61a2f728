public import InwardCore
import Synchronization
public import UseCases

/// An observable list of posts. It takes intents, and any number of observers follow its state.
///
/// ```swift
/// let list = PostListViewModel { query, policy throws(ReadFeedError) in
///     try await readFeed(query, policy)
/// }
/// try await list.send(.load)
/// for await state in list.states {
///     print(state.posts?.rows.count ?? 0)
/// }
/// ```
///
/// You can send intents and observe states from any task; nothing requires the main thread. Call `close()` when the list is no
/// longer needed: it cancels loads in progress and waits for them.
public final class PostListViewModel: Sendable {
    private struct Contents {
        var loads: PostListLoads
        var tasks: [Int: Task<Void, Never>] = [:]
        var observers: [Int: AsyncStream<PostListState>.Continuation] = [:]
        var nextObserver = 0
        var isClosed = false
    }

    /// The numbers of the observers that have left.
    ///
    /// An observer that is cancelled leaves while the runtime holds a lock of its task. `yield` waits for that lock while it holds the lock of
    /// the contents, so leaving must not wait for the contents.
    private final class Departures: Sendable {
        let numbers = Mutex<[Int]>([])
    }

    /// The task that an intent starts, if any, and the tasks that it supersedes.
    private typealias Begun = (task: Task<Void, Never>?, superseded: [Task<Void, Never>])

    private let contents: Mutex<Contents>
    private let departures = Departures()
    private let readFeed: @Sendable (FeedQuery, ReadPolicy) async throws(ReadFeedError) -> FeedPage

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - presenter: Converts the posts to view models.
    ///   - readFeed: Reads a page of posts.
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

    /// The current state. After the list is closed, it is a failure that says so.
    public var state: PostListState { contents.withLock(\.loads.state) }

    /// The number of active observers.
    var observerCount: Int {
        contents.withLock { contents in
            forgetDeparted(&contents)
            return contents.observers.count
        }
    }

    /// The current state, followed by the state after every change, until the list is closed.
    ///
    /// Each access creates an independent sequence for one reader. A slow reader misses all states but the newest.
    public var states: AsyncStream<PostListState> {
        let (states, observer) = AsyncStream.makeStream(of: PostListState.self, bufferingPolicy: .bufferingNewest(1))
        let number = contents.withLock { contents -> Int? in
            guard !contents.isClosed else { return nil }
            defer { contents.nextObserver += 1 }
            forgetDeparted(&contents)
            contents.observers[contents.nextObserver] = observer
            observer.yield(contents.loads.state)
            return contents.nextObserver
        }
        guard let number else {
            observer.finish()
            return states
        }
        observer.onTermination = { [departures] _ in departures.numbers.withLock { $0.append(number) } }
        return states
    }

    private func forgetDeparted(_ contents: inout Contents) {
        let numbers = departures.numbers.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
        for number in numbers { contents.observers[number] = nil }
    }

    /// Performs an intent. Returns when the posts or a failure are shown, or when a later intent has superseded this one.
    ///
    /// A later intent cancels the current load, and its answer is ignored. Cancelling the calling task cancels the load, too.
    ///
    /// - Throws: The failure to show if the list is closed.
    public func send(_ intent: PostListIntent) async throws(FailureViewModel) {
        let (task, superseded) = try contents.withLock { contents throws(FailureViewModel) -> Begun in
            guard !contents.isClosed else { throw Self.closed }
            guard let load = change(&contents, { $0.begin(intent) }) else { return (nil, []) }
            let superseded = Array(contents.tasks.values)
            // Unstructured, because a later intent, `close()` and the calling task can each cancel it. The last two also
            // wait for it.
            let task = Task { await perform(load) }
            contents.tasks[load.number] = task
            return (task, superseded)
        }
        // Outside the lock, because cancellation handlers may take it.
        for task in superseded { task.cancel() }
        guard let task else { return }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Ends every observer's sequence, cancels the loads in progress, and waits for them to finish.
    public func close() async {
        let (tasks, observers) = contents.withLock { contents in
            contents.isClosed = true
            contents.loads.close(showing: Self.closed)
            return (Array(contents.tasks.values), Array(contents.observers.values))
        }
        // Outside the lock, because cancellation handlers may take it.
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

    /// Changes the state, and yields it to every observer, in the order of the changes.
    private func change<Answer>(_ contents: inout Contents, _ change: (inout PostListLoads) -> Answer) -> Answer {
        let earlier = contents.loads.state
        let answer = change(&contents.loads)
        let state = contents.loads.state
        if !contents.isClosed, state != earlier {
            forgetDeparted(&contents)
            for observer in contents.observers.values { observer.yield(state) }
        }
        return answer
    }
}

extension PostListViewModel {
    /// Loads the posts, then refreshes them periodically until the task is cancelled or the list is closed.
    ///
    /// - Parameters:
    ///   - interval: The time to wait after each answer or failure.
    ///   - clock: The clock to wait on.
    /// - Throws: The failure to show if the list is closed.
    public func keepRefreshing(every interval: Duration, on clock: any Clock<Duration>) async throws(FailureViewModel) {
        try await send(.load)
        while (try? await clock.sleep(for: interval)) != nil {
            try await send(.refresh)
        }
    }
}

/// An action on a list of posts.
///
/// ```swift
/// func search(for text: String, in list: PostListViewModel) async throws(FailureViewModel) {
///     try await list.send(.filter(text))
///     try await list.send(.loadMore)
/// }
/// ```
public enum PostListIntent: Hashable, Sendable {
    /// Loads the newest posts, from the cache if possible.
    case load
    /// Reloads the posts on display from the upstream, up to the maximum page size.
    case refresh
    /// Loads the newest posts that contain this text; `nil` for all posts.
    case filter(String?)
    /// Loads the posts that follow those on display.
    case loadMore
}

/// The state of a list of posts.
///
/// ```swift
/// func show(_ state: PostListState) {
///     for row in state.posts?.rows ?? [] { print(row.title) }
///     if case .failed(let failure, _) = state { print(failure.line) }
/// }
/// ```
public enum PostListState: Equatable, Sendable {
    /// Nothing has been loaded yet.
    case idle
    /// A load is in progress. The last posts, if any, stay on display.
    case loading(lastGood: FeedViewModel?)
    /// The posts were loaded.
    case loaded(FeedViewModel)
    /// The load failed. The last posts, if any, stay on display.
    case failed(FailureViewModel, lastGood: FeedViewModel?)

    /// The posts on display: the last ones that were loaded; `nil` if there are none.
    public var posts: FeedViewModel? {
        switch self {
        case .idle: nil
        case .loaded(let posts): posts
        case .loading(let posts), .failed(_, let posts): posts
        }
    }

    /// The posts on display, with a sentence about the state.
    public var document: Document {
        let remark =
            switch self {
            case .idle: "No posts have been loaded yet."
            case .loading: "Loading posts …"
            case .loaded(let posts): "Read \(posts.postsRead) posts (from \(posts.origin))."
            case .failed(let failure, nil): failure.line
            case .failed(let failure, _?): "\(failure.line) The posts above are from the last successful load."
            }
        let list = posts?.document
        return Document(
            title: list?.title ?? "Feed",
            blocks: (list?.blocks ?? []) + [.paragraph(remark)]
        )
    }
}
