import Foundation
import InwardImageServing
import InwardImages
import Synchronization

/// A store of encoded images in memory, with a flaw.
final class FlawedImageStore: EncodedImageStore {
    /// The flaws.
    enum Flaw: CaseIterable {
        // Contents.
        case fails
        case keepsNothing
        case truncates
        case losesTheMediaType
        case losesTheExpiry
        case returnsTheLast
        case keepsTheFirst
        case overwritesTheBeginning
        // Keys.
        case ignoresAddresses
        case ignoresDescriptions
        case ignoresCase
        case shortensKeys
        // Removals.
        case failsForUnknownKeys
        case ignoresRemovals
        case ignoresRemovalsFromAddresses
        case leavesAnImage
        case removesTheAddress
        case takesDescriptionsForPatterns
        case removesByPrefix
        case removesTheDescriptionEverywhere
        case removesBelowTheAddress
        case takesAddressesForPatterns
        case removesEverything
        // Concurrent inserts.
        case mixesConcurrentInserts
        case dropsConcurrentInserts
        case failsDuringAnotherInsert
        case sharesTheImage
        // Cancelled calls.
        case ignoresCancelledInserts
        case tearsCancelledInserts
        case removesBeforeCancelledInserts
        case truncatesCancelledReads
        case ignoresCancelledRemovals
        case tearsCancelledRemovals
        // Allowed.
        case ignoresCancellation
        case dropsLargeAndEmptyImages
        case keepsTwentyImages
    }

    private struct State {
        var images: [ImageVariantKey: StoredImage] = [:]
        /// The keys, in the order of their last inserts.
        var keys: [ImageVariantKey] = []
        /// The first half of the image that is inserted.
        var half = Data()
        var image: StoredImage?
        var insertCount = 0
    }

    /// Peculiar behavior that is allowed.
    static let allowed: [Flaw] = [.ignoresCancellation, .dropsLargeAndEmptyImages, .keepsTwentyImages]
    private static let failure = EncodedImageStoreError(explanation: "Something failed.")

    private let flaw: Flaw?
    private let state = Mutex(State())

    init(_ flaw: Flaw? = nil) { self.flaw = flaw }

    var images: [ImageVariantKey: StoredImage] { state.withLock(\.images) }

    func image(for key: ImageVariantKey) async throws(EncodedImageStoreError) -> StoredImage? {
        if flaw == .fails { throw Self.failure }
        let place = place(of: key)
        let isLast = flaw == .returnsTheLast
        let found = state.withLock { state in state.images[isLast ? state.keys.last ?? place : place] }
        guard let found else { return nil }
        if isCancelled {
            guard flaw == .truncatesCancelledReads else { throw Self.failure }
            return changed(found, bytes: found.bytes.prefix(9))
        }
        return switch flaw {
        case .truncates: changed(found, bytes: found.bytes.prefix(65_536))
        case .losesTheMediaType: StoredImage(bytes: found.bytes, mediaType: "", expiry: found.expiry)
        case .losesTheExpiry: StoredImage(bytes: found.bytes, mediaType: found.mediaType, expiry: .distantFuture)
        default: found
        }
    }

    func insert(_ image: StoredImage, for key: ImageVariantKey) async throws(EncodedImageStoreError) {
        if flaw == .fails { throw Self.failure }
        let place = place(of: key)
        if isCancelled {
            if flaw == .ignoresCancelledInserts { return }
            if flaw == .removesBeforeCancelledInserts { remove { $0 == place } }
            if flaw == .tearsCancelledInserts { put(changed(image, bytes: image.bytes.prefix(9)), at: place) }
            throw Self.failure
        }
        let old = images[place]
        switch flaw {
        case .keepsNothing: break
        case .dropsLargeAndEmptyImages where image.bytes.isEmpty || image.bytes.count > 90_000: remove { $0 == place }
        case .keepsTheFirst: if old == nil { put(image, at: place) }
        case .overwritesTheBeginning:
            let rest = old.map { $0.bytes.dropFirst(image.bytes.count) } ?? Data()
            put(changed(image, bytes: image.bytes + rest), at: place)
        case .mixesConcurrentInserts, .dropsConcurrentInserts, .failsDuringAnotherInsert, .sharesTheImage:
            try await insertSlowly(image, at: place)
        default: put(image, at: place)
        }
    }

    func removeImage(for key: ImageVariantKey) async throws(EncodedImageStoreError) {
        if flaw == .fails { throw Self.failure }
        let place = place(of: key)
        if isCancelled {
            if flaw == .ignoresCancelledRemovals { return }
            if flaw == .tearsCancelledRemovals, let image = images[place] {
                put(changed(image, bytes: image.bytes.prefix(9)), at: place)
            }
            throw Self.failure
        }
        switch flaw {
        case .ignoresRemovals: break
        case .failsForUnknownKeys where images[place] == nil: throw Self.failure
        case .removesTheAddress: remove { $0.address == key.address }
        case .takesDescriptionsForPatterns where key.description.contains("%"): remove { $0.address == key.address }
        case .removesByPrefix:
            remove { $0.address == key.address && $0.description.hasPrefix(key.description) }
        case .removesTheDescriptionEverywhere: remove { $0.description == key.description }
        default: remove { $0 == place }
        }
    }

    func removeImages(from address: ImageAddress) async throws(EncodedImageStoreError) {
        if flaw == .fails { throw Self.failure }
        if isCancelled { throw Self.failure }
        let place = place(of: ImageVariantKey(address: address, description: ""))
        let last = state.withLock { state in state.keys.last { $0.address == place.address } }
        switch flaw {
        case .ignoresRemovalsFromAddresses: break
        case .leavesAnImage: remove { $0.address == place.address && $0 != last }
        case .removesBelowTheAddress: remove { $0.address.rawValue.hasPrefix(address.rawValue) }
        case .takesAddressesForPatterns where address.rawValue.hasSuffix("*"):
            remove { $0.address.rawValue.hasPrefix(address.rawValue.dropLast()) }
        case .removesEverything: remove { _ in true }
        default: remove { $0.address == place.address }
        }
    }

    private var isCancelled: Bool { Task.isCancelled && flaw != .ignoresCancellation }

    /// Inserts an image in two steps, between which others can begin.
    private func insertSlowly(_ image: StoredImage, at key: ImageVariantKey) async throws(EncodedImageStoreError) {
        let middle = image.bytes.count / 2
        let isAlone = state.withLock { state in
            state.half = image.bytes.prefix(middle)
            state.image = image
            state.insertCount += 1
            return state.insertCount == 1
        }
        for _ in 0..<4 { await Task.yield() }
        let (half, last) = state.withLock { state in
            state.insertCount -= 1
            return (state.half, state.image)
        }
        switch flaw {
        case .mixesConcurrentInserts: put(changed(image, bytes: half + image.bytes.dropFirst(middle)), at: key)
        case .dropsConcurrentInserts where !isAlone: remove { $0 == key }
        case .failsDuringAnotherInsert where !isAlone: throw Self.failure
        case .sharesTheImage: put(last ?? image, at: key)
        default: put(image, at: key)
        }
    }

    private func changed(_ image: StoredImage, bytes: Data) -> StoredImage {
        StoredImage(bytes: bytes, mediaType: image.mediaType, expiry: image.expiry)
    }

    /// Returns the key under which the image for a key is.
    private func place(of key: ImageVariantKey) -> ImageVariantKey {
        func place(_ change: (String) -> String) -> ImageVariantKey {
            ImageVariantKey(
                address: ImageAddress(change(key.address.rawValue)),
                description: change(key.description)
            )
        }
        return switch flaw {
        case .ignoresAddresses: ImageVariantKey(address: "", description: key.description)
        case .ignoresDescriptions: ImageVariantKey(address: key.address, description: "")
        case .ignoresCase: place { $0.lowercased() }
        case .shortensKeys: place { String($0.prefix(255)) }
        default: key
        }
    }

    private func put(_ image: StoredImage, at key: ImageVariantKey) {
        state.withLock { state in
            state.images[key] = image
            state.keys.removeAll { $0 == key }
            state.keys.append(key)
            if flaw == .keepsTwentyImages, state.keys.count > 20 {
                let oldest = state.keys.removeFirst()
                state.images[oldest] = nil
            }
        }
    }

    private func remove(_ isRemoved: (ImageVariantKey) -> Bool) {
        state.withLock { state in
            state.keys.removeAll(where: isRemoved)
            state.images = state.images.filter { !isRemoved($0.key) }
        }
    }
}
