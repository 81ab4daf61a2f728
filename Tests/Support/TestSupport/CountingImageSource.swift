package import InwardImages
import InwardTesting
import Synchronization

/// An image source without images that counts concurrent requests. Requests wait until a given number of them is in flight.
///
/// If fewer requests are concurrent, they wait forever.
package final class CountingImageSource: ImageSource {
    private struct State {
        var asked = 0
        var underWay = 0
        var most = 0
        var places: [Rendezvous] = []
    }

    private let count: Int
    private let state = Mutex(State())

    /// Creates a source.
    ///
    /// - Parameter count: The number of requests that wait for one another. The total number of requests must be a multiple of
    ///   it.
    package init(gathering count: Int) {
        self.count = count
    }

    /// The maximum number of concurrent requests so far.
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
        // Gives a request that exceeds the limit, if there is one, time to arrive.
        for _ in 0..<100 { await Task.yield() }
        state.withLock { $0.underWay -= 1 }
        throw ImageError(.notFound, of: address, explanation: "is not there")
    }
}
