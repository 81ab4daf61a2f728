package import InwardImages
import Synchronization

/// An image source with prescribed images, which a test can hold back.
package final class SketchSource: ImageSource {
    private struct State {
        var answers: [ImageAddress: Result<EncodedImage, ImageError>]
        var asked: [ImageAddress] = []
        var cancelled = 0
    }

    private let gate: Gate
    private let state: Mutex<State>

    package init(_ images: [ImageAddress: [UInt8]] = [:], isOpen: Bool = true) {
        let answers = images.mapValues { Result<EncodedImage, ImageError>.success(EncodedImage($0)) }
        gate = Gate(isOpen: isOpen)
        state = Mutex(State(answers: answers))
    }

    /// The requested addresses, in order.
    package var asked: [ImageAddress] { state.withLock(\.asked) }
    /// The number of requests that were cancelled while they were held back.
    package var cancelled: Int { state.withLock(\.cancelled) }

    /// Changes the result for an address.
    package func answer(_ address: ImageAddress, _ answer: Result<EncodedImage, ImageError>) {
        state.withLock { $0.answers[address] = answer }
    }

    /// Stops holding requests back.
    package func open() { gate.open() }

    package func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
        state.withLock { $0.asked.append(address) }
        guard await gate.pass() else {
            state.withLock { $0.cancelled += 1 }
            throw ImageError(.cancelled, explanation: "was cancelled")
        }
        guard let answer = state.withLock({ $0.answers[address] }) else {
            throw ImageError(.notFound, of: address, explanation: "is not there")
        }
        return try answer.get()
    }
}
