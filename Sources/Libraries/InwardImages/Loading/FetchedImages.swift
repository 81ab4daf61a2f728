import Synchronization

/// The fetched pictures that somebody has yet to decode: whoever comes meanwhile takes them, and fetches nothing.
final class FetchedImages: Sendable {
    typealias Key = Versioned<ImageAddress>

    private struct Entry {
        weak var image: FetchedImage?
        let id: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())

    /// How many there are.
    var count: Int { state.withLock(\.entries.count) }

    /// The picture that was fetched for a key, if it is there.
    func image(for key: Key) -> FetchedImage? { state.withLock { $0.entries[key]?.image } }

    /// Has a picture be there for a key until nobody holds it any more.
    ///
    /// - Parameters:
    ///   - key: What it was fetched for.
    ///   - make: Makes the picture, which calls what it is handed when nobody holds it any more.
    /// - Returns: the picture.
    func add(for key: Key, _ make: (@escaping @Sendable () -> Void) -> FetchedImage) -> FetchedImage {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let image = make { [weak self] in self?.remove(key, id) }
        state.withLock { $0.entries[key] = Entry(image: image, id: id) }
        return image
    }

    /// It is told apart by its number, for whoever looked at the picture in the lock might be the last to hold it.
    private func remove(_ key: Key, _ id: Int) {
        state.withLock { state in
            if state.entries[key]?.id == id { state.entries[key] = nil }
        }
    }
}
