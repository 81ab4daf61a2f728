import InwardCore
import Synchronization
import TestSupport

@testable import InwardImages

/// An in-memory store whose `keep` calls wait until it is opened.
final class SketchStore: ImageDataCache {
    private let kept = Mutex<[ImageKey: [UInt8]]>([:])
    private let isBegun = Promise<Void>()
    private let gate: Gate

    init(isOpen: Bool = true) {
        gate = Gate(isOpen: isOpen)
    }

    /// Counts the calls of `keep`.
    let keepings = Counter()
    /// The bytes of all stored images.
    var all: [[UInt8]] { kept.withLock { Array($0.values) } }

    /// Lets all `keep` calls continue.
    func open() { gate.open() }

    /// Waits for the first call of `keep`.
    func isKeeping() async { _ = await isBegun.value(until: nil) }

    /// Replaces the bytes of all stored images.
    func replace(_ change: ([UInt8]) -> [UInt8]) { kept.withLock { $0 = $0.mapValues(change) } }

    func bytes(of image: ImageKey) async -> [UInt8]? { kept.withLock { $0[image] } }

    func keep(_ bytes: [UInt8], of image: ImageKey) async {
        keepings.add()
        isBegun.fulfill(())
        _ = await gate.pass()
        kept.withLock { $0[image] = bytes }
    }

    func forget(_ address: ImageAddress?) async {
        kept.withLock { kept in kept = kept.filter { address != nil && $0.key.address != address } }
    }
}
