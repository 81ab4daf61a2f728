package import InwardImages
import Synchronization

/// A source whose images a test names, and which holds them back until it is told.
package final class SketchSource: ImageSource {
    private struct State {
        var answers: [ImageAddress: Result<EncodedImage, ImageError>]
        var asked: [ImageAddress] = []
        var cancelled = 0
    }

    private let gate: Gate
    private let state: Mutex<State>

    package init(_ pictures: [ImageAddress: [UInt8]] = [:], isOpen: Bool = true) {
        let answers = pictures.mapValues { Result<EncodedImage, ImageError>.success(EncodedImage($0)) }
        gate = Gate(isOpen: isOpen)
        state = Mutex(State(answers: answers))
    }

    /// What it was asked for, in this order.
    package var asked: [ImageAddress] { state.withLock(\.asked) }
    /// How many were no longer wanted while they were held back.
    package var cancelled: Int { state.withLock(\.cancelled) }

    /// Answers otherwise from now on.
    package func answer(_ address: ImageAddress, _ answer: Result<EncodedImage, ImageError>) {
        state.withLock { $0.answers[address] = answer }
    }

    /// Holds nothing back any more.
    package func open() { gate.open() }

    package func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
        state.withLock { $0.asked.append(address) }
        guard await gate.pass() else {
            state.withLock { $0.cancelled += 1 }
            throw ImageError(.cancelled, explanation: "was given up")
        }
        guard let answer = state.withLock({ $0.answers[address] }) else {
            throw ImageError(.notFound, of: address, explanation: "is not there")
        }
        return try answer.get()
    }
}
