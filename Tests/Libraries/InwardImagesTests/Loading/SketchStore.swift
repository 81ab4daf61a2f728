import InwardCore
import Synchronization
import TestSupport

@testable import InwardImages

/// A store in memory, which keeps nothing until it is opened.
final class SketchStore: ImageDataCache {
    private let kept = Mutex<[ImageKey: [UInt8]]>([:])
    private let isBegun = Promise<Void>()
    private let gate: Gate

    init(isOpen: Bool = true) {
        gate = Gate(isOpen: isOpen)
    }

    /// How often something was to be kept.
    let keepings = Counter()
    /// All that it has.
    var all: [[UInt8]] { kept.withLock { Array($0.values) } }

    /// Lets everything be kept.
    func open() { gate.open() }

    /// Waits until something is to be kept.
    func isKeeping() async { _ = await isBegun.value(until: nil) }

    /// Has other bytes in the place of all that it has.
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
