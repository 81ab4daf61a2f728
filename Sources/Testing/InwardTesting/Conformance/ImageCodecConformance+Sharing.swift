import Dispatch
import InwardCore
import InwardImages
import Synchronization

extension ImageCodecConformance {
    /// Calls leave no state behind that affects later calls: images are encoded and decoded in alternation.
    func repetitionViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        let sizes = [(13, 7), (13, 7), (7, 13), (20, 4)].map { ImageSize(clamping: $0.0, $0.1) }
        var samples: [ImageSample] = []
        do throws(ImageCodecError) {
            for (index, size) in sizes.enumerated() {
                var image = Image.smooth(size)
                if index == 1 { image = image.reversed }
                if roundTrip.keepsOrientation, index == 2 { image.orientation = .left }
                // Encoded twice, because state that the first call leaves behind may affect the second.
                _ = try codec.bytes(of: image, as: roundTrip.encoding)
                let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
                samples.append(
                    ImageSample(bytes, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
                )
            }
        } catch {
            return ["An image must be encodable as \(roundTrip.format) twice, but failed: \(error.reason)."]
        }
        return repetitionViolations(codec, samples)
    }

    /// The same for images that are only decoded.
    func repetitionViolations(_ codec: any ImageCodec, _ samples: [ImageSample]) -> [String] {
        let padded = samples.padded
        // A codec may refuse bytes after the end of an image.
        let isPaddingRead = padded.allSatisfy { (try? codec.image(from: $0.bytes, ImageDecodingOptions())) != nil }
        // All of the same length, so that a codec cannot distinguish them by length.
        let tried = isPaddingRead ? padded : samples
        return (tried + tried.reversed()).flatMap { sample in
            violations(of: codec, sample).map { "Sequentially: \($0)" }
        }
    }

    /// Concurrent calls each return their own image.
    func concurrencyViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        await concurrencyViolations(
            [(8, 12), (12, 8)].map { width, height in
                let image = Image.smooth(ImageSize(clamping: width, height))
                return { self.violations(of: codec, roundTrip, by: image) }
            }
        )
    }

    /// The same for calls of any kind. Each call is repeated on its own thread, and returns the violations it finds.
    func concurrencyViolations(_ calls: [@Sendable () -> [String]]) async -> [String] {
        let start = DispatchGroup()
        for _ in calls { start.enter() }
        let overlap = CallOverlap(callers: calls.count)
        let found = await withTaskGroup { group in
            for (caller, call) in calls.enumerated() {
                group.addTask {
                    await onOwnThread {
                        start.leave()
                        start.wait()
                        var violations: Set<String> = []
                        // All callers continue until all have overlapped enough, so that none waits in vain for another.
                        while overlap.needsCalls {
                            overlap.enter(caller)
                            violations.formUnion(call())
                            overlap.leave(caller)
                        }
                        return violations
                    }
                }
            }
            return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        return found.map { "Concurrently: \($0)" }.sorted()
    }

    /// A call that is made between the steps of another call does not affect it.
    func nestingViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        guard nestsCalls else { return [] }
        let image = Image.smooth(ImageSize(clamping: 24, 72))
        let other = Image.smooth(ImageSize(clamping: 72, 24)).reversed
        let bytes: [UInt8]
        let otherBytes: [UInt8]
        do throws(ImageCodecError) {
            bytes = try codec.bytes(of: image, as: roundTrip.encoding)
            otherBytes = try codec.bytes(of: other, as: roundTrip.encoding)
        } catch {
            return ["An \(image) must be encodable as \(roundTrip.format), but failed: \(error.reason)."]
        }
        let sample = ImageSample(otherBytes, format: roundTrip.format, image: other, tolerance: roundTrip.tolerance)
        let failures = EventCount()
        let nested: @Sendable () -> Void = {
            let violations = self.violations(of: codec, sample) + self.violations(of: codec, roundTrip, by: other)
            for _ in violations { failures.increase() }
        }
        let tolerance = roundTrip.tolerance
        let whole = ImageSample(bytes, format: roundTrip.format, image: image, tolerance: tolerance)
        let isRead = await isRead(whole, by: codec, nesting: nested)
        let isWritten = await nesting(nested) { () throws(ImageCodecError) in
            try codec.bytes(of: image, as: roundTrip.encoding)
        } isRight: {
            guard let copy = try? codec.image(from: $0, ImageDecodingOptions()) else { return false }
            return copy.isSimilar(to: image, within: tolerance)
        }
        let name = "An \(image) in \(roundTrip.format)"
        let meanwhile = "correctly while another is decoded and encoded, but is not."
        return (isRead ? [] : ["\(name) must be decoded \(meanwhile)"])
            + (isWritten ? [] : ["\(name) must be encoded \(meanwhile)"])
            + (failures.value == 0
                ? [] : ["\(name) must not affect another image that is decoded meanwhile, but does."])
    }

    /// The same for images that are only decoded.
    func nestingViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        _ other: ImageSample
    ) async -> [String] {
        guard nestsCalls else { return [] }
        let failures = EventCount()
        let isRead = await isRead(sample, by: codec) {
            for _ in self.violations(of: codec, other) { failures.increase() }
        }
        let name = "An \(sample.image) in \(sample.format)"
        return (isRead ? [] : ["\(name) must be decoded correctly while another is decoded, but is not."])
            + (failures.value == 0
                ? [] : ["\(name) must not affect another image that is decoded meanwhile, but does."])
    }

    /// Returns whether an image is decoded correctly although other work is done in the meantime.
    private func isRead(
        _ sample: ImageSample,
        by codec: any ImageCodec,
        nesting other: @escaping @Sendable () -> Void
    ) async -> Bool {
        await nesting(other) { () throws(ImageCodecError) in
            try codec.image(from: sample.bytes, ImageDecodingOptions())
        } isRight: {
            $0.isSimilar(to: sample.image, within: sample.tolerance)
        }
    }

    /// Returns whether work is correct although other work is done at each of its first deadline checks.
    private func nesting<Value: Sendable>(
        _ other: @escaping @Sendable () -> Void,
        in work: () throws(ImageCodecError) -> Value,
        isRight: (Value) -> Bool
    ) async -> Bool {
        let clock = PollingClock()
        for reading in 1...3 { clock.act(at: reading) { Deadline.lifted(other) } }
        let result = await Deadline(in: .seconds(1), on: clock).carried { () throws(ImageCodecError) in
            clock.start()
            return try work()
        }
        guard case .success(let value) = result else { return false }
        return isRight(value)
    }
}

/// Runs blocking work on its own thread, so that it overlaps with other such work even if the cooperative pool has few threads.
private func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    // Resumed once, when the work ends.
    await withCheckedContinuation { continuation in
        // A serial queue has its own thread while it works.
        DispatchQueue(label: "inward.conformance").async { continuation.resume(returning: work()) }
    }
}

extension [ImageSample] {
    /// The same images, padded with zeros to a common length.
    fileprivate var padded: [ImageSample] {
        let length = map(\.bytes.count).max() ?? 0
        return map { sample in
            let padding = [UInt8](repeating: 0, count: length - sample.bytes.count)
            return ImageSample(
                sample.bytes + padding,
                format: sample.format,
                image: sample.image,
                tolerance: sample.tolerance
            )
        }
    }
}

/// Counts how often calls on several threads overlap, so that they continue until they have overlapped enough.
///
/// If the system suspends a thread during a call, the calls that other threads make meanwhile overlap with the same point of
/// that call. This point may be harmless, so they count as one overlap.
final class CallOverlap: Sendable {
    /// The number of overlaps that each caller needs.
    private static let enough = 16
    /// The maximum number of calls per caller, for calls that never overlap. So many calls take longer than a thread's time
    /// slice.
    private static let maximumCalls = 1_000

    private struct Caller {
        var callCount = 0
        var isActive = false
        var meetings = 0
        /// The number of calls that the others had made when this caller last overlapped with some of them.
        var metCallCount = 0
    }

    private let callers: Mutex<[Caller]>

    init(callers count: Int) {
        callers = Mutex([Caller](repeating: Caller(), count: count))
    }

    /// Whether any caller needs more calls.
    var needsCalls: Bool {
        callers.withLock { callers in
            callers.contains { $0.meetings < Self.enough } && callers.contains { $0.callCount < Self.maximumCalls }
        }
    }

    /// Records that a caller begins a call.
    func enter(_ caller: Int) {
        callers.withLock { callers in
            let others = callers.indices.filter { $0 != caller }
            let callCount = others.reduce(0) { $0 + callers[$1].callCount }
            if others.contains(where: { callers[$0].isActive }), callCount != callers[caller].metCallCount {
                callers[caller].metCallCount = callCount
                callers[caller].meetings += 1
            }
            callers[caller].callCount += 1
            callers[caller].isActive = true
        }
    }

    /// Records that a caller ends its call.
    func leave(_ caller: Int) {
        callers.withLock { $0[caller].isActive = false }
    }
}
