import InwardTesting
import InwardTransfers
import Synchronization
import UseCases

/// A mirror source with a loader for each item. Other items do not exist.
final class MirrorOriginals: MirrorSource {
    private let loaders: Mutex<[MirroredItem: any DataLoader]>

    init(_ loaders: [MirroredItem: any DataLoader]) {
        self.loaders = Mutex(loaders)
    }

    func set(_ loader: any DataLoader, for item: MirroredItem) {
        loaders.withLock { $0[item] = loader }
    }

    func loader(of item: MirroredItem) -> any DataLoader {
        loaders.withLock { $0[item] }
            ?? InMemoryDataLoader([]) { (_, _) throws(DataLoaderError) in
                throw DataLoaderError(source: "\(item)", explanation: "is not there", meansAbsence: true)
            }
    }
}
