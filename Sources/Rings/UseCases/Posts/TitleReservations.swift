import Entities
import Synchronization

/// The titles being published at this moment, so that nobody else publishes them meanwhile.
///
/// Share one among all who publish in a process.
public final class TitleReservations: Sendable {
    private struct Key: Hashable {
        let author: User.ID
        let foldedTitle: String

        init(_ draft: PostDraft) {
            author = draft.authorID
            foldedTitle = draft.foldedTitle
        }
    }

    private let keys = Mutex<Set<Key>>([])

    /// Makes reservations of nothing.
    public init() {}

    /// Takes the draft's title for its author; `false` if it is taken already.
    func reserve(_ draft: PostDraft) -> Bool {
        keys.withLock { $0.insert(Key(draft)).inserted }
    }

    /// Gives back a title that was reserved.
    func release(_ draft: PostDraft) {
        _ = keys.withLock { $0.remove(Key(draft)) }
    }
}
