import InwardCore
import InwardImages

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
        await CallOverlap.violations(
            of: [(8, 12), (12, 8)].map { width, height in
                let image = Image.smooth(ImageSize(clamping: width, height))
                return { self.violations(of: codec, roundTrip, by: image) }
            }
        )
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
