/// The cached lists that the threads of one stripe have read since the last change of any list.
///
/// Readers on several threads would otherwise wait for the lock of the cached lists, and count references to one array. Counting
/// takes most of the time, because each count takes the cache line away from the other processors.
@usableFromInline
struct ListCopies<Entity: Identifiable & Sendable>: Sendable where Entity.ID: Sendable & LosslessStringConvertible {
    @usableFromInline typealias Answer = KeptAnswer<EntityList<Entity>>

    @usableFromInline
    struct Copy: Sendable {
        @usableFromInline var answer: Answer
        @usableFromInline var readCount = 0

        init(_ answer: Answer) {
            self.answer = answer
        }
    }

    /// The number of reads after which a list gets an array that no other stripe uses.
    @usableFromInline static var readsBeforeOwnArray: Int { 64 }

    /// The largest such array, in bytes, and the number of them. They are in addition to the memory limit: 4 MiB for 16 stripes.
    private static var ownArrayByteLimit: Int { 16 * 1_024 }
    private static var ownArrayLimit: Int { 16 }

    /// The maximum number of lists. Readers of further ones read the cache.
    private static var maximumCount: Int { 256 }

    @usableFromInline var copies: [EntityFilter<Entity>: Copy] = [:]
    private var ownArrayCount = 0

    init() {}

    /// The number of lists.
    var count: Int { copies.count }

    /// Returns the list of a filter, if a thread of the stripe has read it since the last change.
    @inlinable
    mutating func answer(for filter: EntityFilter<Entity>) -> Answer? {
        guard let place = copies.index(forKey: filter) else { return nil }
        if copies.values[place].readCount < Self.readsBeforeOwnArray { noteRead(place) }
        return copies.values[place].answer
    }

    /// Inserts a list that was just read from the cache. It shares the array of the cache.
    mutating func insert(_ answer: Answer, for filter: EntityFilter<Entity>) {
        guard copies.count < Self.maximumCount else { return }
        copies[filter] = Copy(answer)
    }

    /// Removes all lists.
    mutating func removeAll() {
        guard !copies.isEmpty else { return }
        copies.removeAll(keepingCapacity: true)
        ownArrayCount = 0
    }

    @usableFromInline
    mutating func noteRead(_ place: Dictionary<EntityFilter<Entity>, Copy>.Index) {
        copies.values[place].readCount += 1
        let copy = copies.values[place]
        let byteCount = copy.answer.value.entities.count * MemoryLayout<Entity>.stride
        guard copy.readCount == Self.readsBeforeOwnArray, byteCount <= Self.ownArrayByteLimit,
            ownArrayCount < Self.ownArrayLimit
        else { return }
        copies.values[place].answer = copy.answer.withOwnArray()
        ownArrayCount += 1
    }
}

extension KeptAnswer {
    /// The same answer with an array of its own.
    fileprivate func withOwnArray<Entity>() -> KeptAnswer where Value == EntityList<Entity> {
        KeptAnswer(value: value.withOwnArray, time: time, staleTime: staleTime, validator: validator)
    }
}
