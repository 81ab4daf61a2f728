import Foundation
import InwardTesting
import Testing
import Thoroughness

@Suite(.timeLimit(.minutes(5)))
struct EncodedImageStoreConformanceTests {
    private let conformance = EncodedImageStoreConformance(now: Date(timeIntervalSince1970: 1_800_000_000.25))

    @Test func correctStorePassesAndIsEmptyAfterwards() async throws {
        let store = FlawedImageStore()
        try await conformance.check(store)
        #expect(store.images.isEmpty)
    }

    @Test(arguments: Thoroughness.sample(FlawedImageStore.allowed, every: 2))
    func peculiarStorePasses(flaw: FlawedImageStore.Flaw) async throws {
        try await conformance.check(FlawedImageStore(flaw))
    }

    /// For each flaw, a part of a violation that must be found.
    private static let findings: [(FlawedImageStore.Flaw, String)] = [
        (.fails, "The store must not fail, but did: Something failed."),
        (.keepsNothing, "Of 10 inserted images, at least one must be found, but none is."),
        (.truncates, "An image of 100000 bytes must be returned with them, but has others."),
        (.losesTheMediaType, "An image of type “image/avif” must keep it, but has “”."),
        (.losesTheExpiry, "An image that expires on 2027-01-16 08:00:01 +0000 must keep that, but has"),
        (.returnsTheLast, "There must be no image for a key that has none, but there is one."),
        (.keepsTheFirst, "An insert must replace the image for its key, but the old one is still there."),
        (.overwritesTheBeginning, "An insert must replace all of the image for its key, but does not."),
        (.ignoresAddresses, "from different addresses must be kept apart, but “the same” from “images/a” has"),
        (.ignoresDescriptions, "with different descriptions must be kept apart, but “the same” from “images/a” has"),
        (.ignoresCase, "from different addresses must be kept apart, but “the same” from “images/a” has"),
        (.shortensKeys, "from different addresses must be kept apart, but “the same” from “images/longlong"),
        (.failsForUnknownKeys, "The removal of what is not there must succeed, but failed: Something failed."),
        (.ignoresRemovals, "A removal must remove the image for “1.1 image/png a images/a”, but does not."),
        (.ignoresRemovalsFromAddresses, "A removal must remove the images from “images/a”, but does not."),
        (.leavesAnImage, "A removal must remove the images from “images/a”, but does not."),
        (.removesTheAddress, "“1.1 image/png a images/a” must leave the others from its address, but does not."),
        (.takesDescriptionsForPatterns, "“1.1 image/png % images/a” must leave the others from its address, but"),
        (.removesByPrefix, "must leave those whose descriptions begin with its own, but does not."),
        (.removesTheDescriptionEverywhere, "must leave those from other addresses, but does not."),
        (.removesBelowTheAddress, "from “images/a” must leave the images from “images/a/b”, but does not."),
        (.takesAddressesForPatterns, "from “images/*” must leave the images from “images/a”, but does not."),
        (.removesEverything, "from “images/a” must leave the images from “images”, but does not."),
        (.mixesConcurrentInserts, "a key must leave one of their images as it was inserted, but do not."),
        (.dropsConcurrentInserts, "Concurrent inserts for a key must leave one of their images, but leave none."),
        (.failsDuringAnotherInsert, "The store must not fail under concurrent use, but did: Something failed."),
        (.sharesTheImage, "Concurrent inserts for different keys must not affect each other, but do."),
        (.ignoresCancelledInserts, "A cancelled insert that succeeds must take effect, but does not."),
        (.tearsCancelledInserts, "must leave the old image or the new one, but leaves another."),
        (.removesBeforeCancelledInserts, "must leave the old image or the new one, but leaves none."),
        (.truncatesCancelledReads, "An image that a cancelled task reads must be as it was inserted, but is not."),
        (.ignoresCancelledRemovals, "A cancelled removal that succeeds must take effect, but does not."),
        (.tearsCancelledRemovals, "A cancelled removal must leave the old image or none, but leaves another."),
    ]

    @Test(arguments: Thoroughness.sample(findings, every: 8))
    func eachFlawIsFound(flaw: FlawedImageStore.Flaw, sentence: String) async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await conformance.check(FlawedImageStore(flaw))
        }
        let found = failure?.violations ?? []
        #expect(found.contains { $0.contains(sentence) }, "\(found)")
        #expect(found.allSatisfy { $0.hasSuffix(".") }, "\(found)")
    }

    @Test func everyFlawHasAFinding() {
        #expect(Set(Self.findings.map(\.0)).union(FlawedImageStore.allowed) == Set(FlawedImageStore.Flaw.allCases))
    }
}
