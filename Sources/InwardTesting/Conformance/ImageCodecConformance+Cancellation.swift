import Entities
import UseCases

extension ImageCodecConformance {
    /// A cancelled task gets no large picture; one that is cancelled meanwhile gets it whole or not at all.
    func cancellationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        let image = Image.smooth(ImageSize(clamping: 320, 240))
        let encoded: [UInt8]
        do { encoded = try codec.bytes(of: image, as: roundTrip.encoding) } catch {
            return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
        }
        let read: @Sendable () throws(ImageCodecError) -> Void = { () throws(ImageCodecError) in
            _ = try codec.image(from: encoded, ImageDecodingOptions())
        }
        let written: @Sendable () throws(ImageCodecError) -> Void = { () throws(ImageCodecError) in
            _ = try codec.bytes(of: image, as: roundTrip.encoding)
        }
        let name = "A \(image) in \(roundTrip.format)"
        return await violations(of: read, "\(name) must not be read")
            + violations(of: written, "\(name) must not be written")
            + deadlineViolations(of: read, "\(name) must not be read")
            + deadlineViolations(of: written, "\(name) must not be written")
    }

    private func violations(
        of work: @escaping @Sendable () throws(ImageCodecError) -> Void,
        _ name: String
    ) async -> [String] {
        var violations: [String] = []
        switch await ending(of: work, cancelledBehind: 0) {
        case .cancelled: break
        case .none: violations.append("\(name) in a task that is cancelled, and is.")
        case .some(let reason): violations.append("\(name) in a task that is cancelled, and failed as \(reason).")
        }
        for delay in 1...4 {
            switch await ending(of: work, cancelledBehind: delay) {
            case .none, .cancelled: break
            case .some(let reason): violations.append("\(name) once its task is cancelled, and failed as \(reason).")
            }
        }
        return violations
    }

    /// Work under a deadline that has passed fails as timed out, although its task is not cancelled.
    private func deadlineViolations(
        of work: @escaping @Sendable () throws(ImageCodecError) -> Void,
        _ name: String
    ) async -> [String] {
        switch await Deadline(in: .zero).carried(by: work) {
        case .success: ["\(name) after the deadline of its task, and is."]
        case .failure(let error) where error.reason == .timedOut: []
        case .failure(let error): ["\(name) after the deadline of its task, and failed as \(error.reason)."]
        }
    }

    /// How work ends whose task is cancelled before it begins, or a while behind that; `nil` if it is done.
    private func ending(
        of work: @escaping @Sendable () throws(ImageCodecError) -> Void,
        cancelledBehind delay: Int
    ) async -> ImageCodecError.Reason? {
        await withTaskGroup { group in
            group.addTask {
                if delay == 0 { while !Task.isCancelled { await Task.yield() } }
                do throws(ImageCodecError) {
                    try work()
                    return ImageCodecError.Reason?.none
                } catch {
                    return error.reason
                }
            }
            for _ in 0..<delay * delay * 16 { await Task.yield() }
            group.cancelAll()
            return await group.next() ?? nil
        }
    }
}
