import InwardTesting
import Synchronization
import Testing

@testable import InwardRepositories

@Suite(.timeLimit(.minutes(5)))
struct RecordAnnouncementTests {
    /// Removes everything that waits.
    private func popAll(_ buffer: inout RecordAnnouncementBuffer) -> [RecordAnnouncement] {
        var announcements: [RecordAnnouncement] = []
        while let announcement = buffer.popFirst() { announcements.append(announcement) }
        return announcements
    }

    @Test func keysAreReportedOnceInTheirOrder() {
        var buffer = RecordAnnouncementBuffer()
        for key in ["b", "a", "b", "c", "a"] { buffer.add([key]) }
        #expect(buffer.popFirst() == .changed(["b"]))
        buffer.add(["b"])
        #expect(popAll(&buffer) == [.changed(["a"]), .changed(["c"]), .changed(["b"])])
    }

    @Test func tooManyKeysBecomeOneAnnouncement() {
        var buffer = RecordAnnouncementBuffer()
        for number in 0..<1_000 { buffer.add(["\(number)"]) }
        var full = buffer
        #expect(buffer.popFirst() == .changed(["0"]))
        full.add(["0"])
        #expect(full.popFirst() == .changed(["0"]))
        full.add(["1000"])
        full.add(["1001"])
        full.add(["1002"])
        #expect(popAll(&full) == [.anythingMayHaveChanged])
        full.add(["1003"])
        #expect(full.popFirst() == .changed(["1003"]))
    }

    @Test func changesAnnouncedBeforeTheyAreReadAreCovered() {
        var buffer = RecordAnnouncementBuffer()
        buffer.add(["a"])
        buffer.addAnything()
        buffer.add(["b"])
        #expect(popAll(&buffer) == [.anythingMayHaveChanged])
    }

    @Test func releasedStoreEndsItsAnnouncements() async throws {
        var store: InMemoryRecordStore? = InMemoryRecordStore()
        var announcements = try #require(store?.announcements(under: [])).makeAsyncIterator()
        try await store?.commit([.announce(["a"])])
        #expect(await announcements.next() == .anythingMayHaveChanged)
        try await store?.commit([.announce(["b"])])
        store = nil
        #expect(await announcements.next() == .changed(["b"]))
        #expect(await announcements.next() == nil)
    }

    @Test func hubIsUnusedOnceTheLastSequenceIsReleased() async {
        let unused = Counter()
        let hub = RecordAnnouncementHub(whenUnused: { unused.increase() })
        var one: RecordAnnouncements? = hub.announcements(under: [])
        do {
            var two = hub.announcements(under: ["a"]).makeAsyncIterator()
            #expect(await two.next() == .anythingMayHaveChanged)
        }
        #expect(unused.value == 0)
        #expect(!hub.endListeningIfUnused())
        withExtendedLifetime(one) {}
        one = nil
        #expect(unused.value == 1)
        #expect(hub.endListeningIfUnused())
    }

    @Test func sequenceOfAHubThatDoesNotListenBeginsLater() async {
        let hub = RecordAnnouncementHub(isListening: false)
        var announcements = hub.announcements(under: []).makeAsyncIterator()
        // It has not listened yet, so it has lost nothing.
        hub.loseTrack()
        hub.announce([["a"]])
        #expect(await announcements.next() == .changed(["a"]))
        hub.beginListening()
        #expect(await announcements.next() == .anythingMayHaveChanged)
        hub.loseTrack()
        #expect(await announcements.next() == .anythingMayHaveChanged)
    }
}

private final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func increase() { count.add(1, ordering: .relaxed) }
}
