import Entities
import Synchronization

@testable import UseCases

/// A source whose pictures a test names, and which holds them back until it is told.
final class SketchSource: ImageSource {
    private struct State {
        var answers: [ImageAddress: Result<EncodedImage, ImageError>]
        var asked: [ImageAddress] = []
        var cancelled = 0
    }

    private let gate: Gate
    private let state: Mutex<State>

    init(_ pictures: [ImageAddress: [UInt8]] = [:], isOpen: Bool = true) {
        let answers = pictures.mapValues { Result<EncodedImage, ImageError>.success(EncodedImage($0)) }
        gate = Gate(isOpen: isOpen)
        state = Mutex(State(answers: answers))
    }

    /// What it was asked for, in this order.
    var asked: [ImageAddress] { state.withLock(\.asked) }
    /// How many were no longer wanted while they were held back.
    var cancelled: Int { state.withLock(\.cancelled) }

    /// Answers otherwise from now on.
    func answer(_ address: ImageAddress, _ answer: Result<EncodedImage, ImageError>) {
        state.withLock { $0.answers[address] = answer }
    }

    /// Holds nothing back any more.
    func open() { gate.open() }

    func image(at address: ImageAddress, upTo limit: Int) async throws(ImageError) -> EncodedImage {
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
