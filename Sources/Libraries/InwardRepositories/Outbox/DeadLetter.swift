import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A refused write that can be read, and so can be sent again.
struct DeadLetter: Sendable {
    /// The key of its record.
    let key: RecordKey
    let id: String
    let write: OutboxWrite
    let acceptedAt: Date
    let byteCount: Int

    /// Creates a dead letter from an item, or returns `nil` if its record cannot be read.
    init?(_ key: RecordKey, _ item: OutboxItem) {
        guard let write = item.write, let date = item.acceptedAt else { return nil }
        self.key = key
        self.write = write
        id = item.id
        acceptedAt = date
        byteCount = item.byteCount
    }

    /// Returns the dead letters to send again when somebody asks for this one, in order.
    ///
    /// The changes of an entity whose creation was refused have no address. The commit that settles the creation gives them one, but
    /// only if they are pending then. So the creation and its changes are accepted together, whichever of them is asked for.
    ///
    /// - Parameter letters: The dead letters of the outbox, in order, with this one among them.
    /// - Returns: this one, and those that are accepted together with it.
    func sentAgain(among letters: [DeadLetter]) -> [DeadLetter] {
        guard write.entityID == nil else { return [self] }
        let related = letters.filter { letter in
            letter.write.subject == write.subject && letter.write.endpoint == write.endpoint
                && letter.write.entityID == nil
        }
        let creations = related.filter { $0.write.method == .post }
        // The subject of a creation is its own. Several such writes are not those of a repository.
        guard creations.count == 1 else { return [self] }
        // A change that was sent again has a new number, but was first accepted when it was.
        let changes = related.filter { $0.write.method != .post }.enumerated().sorted { first, second in
            (first.element.acceptedAt, first.offset) < (second.element.acceptedAt, second.offset)
        }
        return creations + changes.map { $0.element }
    }
}
