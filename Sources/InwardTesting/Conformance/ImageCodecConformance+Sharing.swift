import Entities
import UseCases

extension ImageCodecConformance {
    /// Calls leave nothing behind that a later one meets: images are written and read in turns.
    func repetitionViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        let sizes = [(13, 7), (13, 7), (7, 13), (20, 4)].map { ImageSize(clamping: $0.0, $0.1) }
        var samples: [ImageSample] = []
        do throws(ImageCodecError) {
            for (index, size) in sizes.enumerated() {
                var image = Image.smooth(size)
                if index == 1 { image = image.reversed }
                if roundTrip.keepsOrientation, index == 2 { image.orientation = .left }
                // The second time, because what the first leaves behind may be wrong then.
                _ = try codec.bytes(of: image, as: roundTrip.encoding)
                let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
                samples.append(
                    ImageSample(bytes, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
                )
            }
        } catch {
            return ["An image must be written as \(roundTrip.format) twice, and failed: \(error.reason)."]
        }
        let padded = samples.padded
        // A codec may refuse bytes with others after them.
        let isPaddingRead = padded.allSatisfy { (try? codec.image(from: $0.bytes, ImageDecodingOptions())) != nil }
        // Of the same length, so that nothing is told apart by it.
        let tried = isPaddingRead ? padded : samples
        return (tried + tried.reversed()).flatMap { sample in
            violations(of: codec, sample).map { "One after the other: \($0)" }
        }
    }

    /// Calls at the same time each get their own image.
    func concurrencyViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        let tasks = 2
        let start = Rendezvous(of: tasks)
        let overlaps = EventCount()
        let active = ActiveCount()
        let found = await withTaskGroup { group in
            for number in 1...tasks {
                group.addTask {
                    let image = Image.smooth(ImageSize(clamping: 4 + 4 * number, 16 - 4 * number))
                    var violations: [String] = []
                    await start.arrive()
                    // Until enough calls met another one. A busy machine takes a while to run two threads. Nothing is suspended,
                    // because other work would take the threads.
                    let limit = ContinuousClock.now + .milliseconds(60)
                    while overlaps.value < 32, violations.isEmpty, ContinuousClock.now < limit {
                        if active.enter() > 1 { overlaps.increase() }
                        violations = self.violations(of: codec, roundTrip, by: image)
                        active.leave()
                    }
                    return violations
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        return Set(found).map { "At the same time: \($0)" }.sorted()
    }

    /// A call that is made between the steps of another changes nothing of it.
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
            return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
        }
        let sample = ImageSample(otherBytes, format: roundTrip.format, image: other, tolerance: roundTrip.tolerance)
        let failures = EventCount()
        let nested: @Sendable () -> Void = {
            let violations = self.violations(of: codec, sample) + self.violations(of: codec, roundTrip, by: other)
            for _ in violations { failures.increase() }
        }
        let tolerance = roundTrip.tolerance
        let isRead = await nesting(nested) { () throws(ImageCodecError) in
            try codec.image(from: bytes, ImageDecodingOptions())
        } isRight: {
            $0.isSimilar(to: image, within: tolerance)
        }
        let isWritten = await nesting(nested) { () throws(ImageCodecError) in
            try codec.bytes(of: image, as: roundTrip.encoding)
        } isRight: {
            guard let copy = try? codec.image(from: $0, ImageDecodingOptions()) else { return false }
            return copy.isSimilar(to: image, within: tolerance)
        }
        let name = "A \(image) in \(roundTrip.format)"
        let meanwhile = "right while another is read and written, and is not."
        return (isRead ? [] : ["\(name) must be read \(meanwhile)"])
            + (isWritten ? [] : ["\(name) must be written \(meanwhile)"])
            + (failures.value == 0 ? [] : ["\(name) must not change another that is read meanwhile, and does."])
    }

    /// Whether work is right although other work is done at each of its first looks at the deadline.
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

extension [ImageSample] {
    /// The same images in bytes of one length, with zeros after them.
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
