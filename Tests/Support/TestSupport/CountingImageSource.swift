package import InwardImages
import InwardTesting
import Synchronization

/// A source without images that counts how many are asked for at once, and has so many wait for one another.
///
/// Where fewer are asked for at once than wait for one another, nothing goes on.
package final class CountingImageSource: ImageSource {
    private struct State {
        var asked = 0
        var underWay = 0
        var most = 0
        var places: [Rendezvous] = []
    }

    private let count: Int
    private let state = Mutex(State())

    /// Makes a source.
    ///
    /// - Parameter count: How many wait for one another; what is asked for altogether is a multiple of it.
    package init(gathering count: Int) {
        self.count = count
    }

    /// How many were asked for at once at most.
    package var maximumAtOnce: Int { state.withLock(\.most) }

    package func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
        let place = state.withLock { state in
            if state.asked % count == 0 { state.places.append(Rendezvous(of: count)) }
            state.asked += 1
            state.underWay += 1
            state.most = max(state.most, state.underWay)
            return state.places[state.places.count - 1]
        }
        await place.arrive()
        // Somebody more than is allowed would come meanwhile.
        for _ in 0..<100 { await Task.yield() }
        state.withLock { $0.underWay -= 1 }
        throw ImageError(.notFound, of: address, explanation: "is not there")
    }
}
