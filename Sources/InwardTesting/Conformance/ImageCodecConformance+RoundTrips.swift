import Entities
import UseCases

extension ImageCodecConformance {
    /// The sides that are tried, each with each: those around what the blocks of usual forms are.
    private static let sides = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17]

    /// Pictures of many sizes come back as they were.
    func sizeViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        var random = SplitMix64(seed: seed)
        var violations: [String] = []
        for width in Self.sides {
            for height in Self.sides {
                let size = ImageSize(clamping: width, height)
                var images = [Image.smooth(size)]
                if roundTrip.keepsAlpha { images.append(.smooth(size, isClear: true)) }
                if roundTrip.tolerance == 0 {
                    var image = Image.noise(size, &random)
                    if !roundTrip.keepsAlpha { image = image.opaque }
                    images.append(image)
                }
                for image in images { violations += self.violations(of: codec, roundTrip, by: image) }
            }
        }
        return violations
    }

    /// Pictures say how they are to be turned, before and behind.
    func orientationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        guard roundTrip.keepsOrientation else { return [] }
        return Orientation.allCases.flatMap { orientation in
            var image = Image.smooth(ImageSize(clamping: 19, 11))
            image.orientation = orientation
            return violations(of: codec, roundTrip, by: image)
        }
    }

    /// A picture that is read comes out as it is.
    func sampleViolations(_ codec: any ImageCodec, _ sample: ImageSample) -> [String] {
        violations(of: codec, sample)
    }

    /// Many at once each get their own picture.
    func concurrencyViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        let found = await withTaskGroup { group in
            for side in 1...16 {
                group.addTask {
                    violations(of: codec, roundTrip, by: .smooth(ImageSize(clamping: 30 + side, 50 - side)))
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        return Set(found).map { "Many at once: \($0)" }.sorted()
    }

    private func violations(of codec: any ImageCodec, _ roundTrip: ImageRoundTrip, by image: Image) -> [String] {
        do throws(ImageCodecError) {
            let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
            return violations(
                of: codec,
                ImageSample(bytes, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
            )
        } catch {
            return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
        }
    }

    private func violations(of codec: any ImageCodec, _ sample: ImageSample) -> [String] {
        let name = "A \(sample.image) in \(sample.format)"
        var violations: [String] = []
        do throws(ImageCodecError) {
            let header = try codec.header(of: sample.bytes)
            let image = try codec.image(from: sample.bytes, ImageDecodingOptions())
            if header.format != sample.format {
                violations.append("\(name) says in its header to be \(header.format).")
            }
            if header.size != sample.image.size {
                violations.append("\(name) says in its header to be \(header.size).")
            }
            if header.orientation != sample.image.orientation {
                violations.append(
                    "\(name) must be turned as \(sample.image.orientation), and its header says \(header.orientation)."
                )
            }
            if image.orientation != sample.image.orientation {
                violations.append(
                    "\(name) must be turned as \(sample.image.orientation), and came back as \(image.orientation)."
                )
            }
            if image.bytes.count > header.bytes(reducedBy: 1) {
                violations.append("\(name) takes more bytes than its header says.")
            }
            guard image.size == sample.image.size else {
                return violations + ["\(name) came back as a \(image)."]
            }
            let difference = image.largestDifference(from: sample.image)
            if difference > sample.tolerance {
                violations.append(
                    "\(name) must come back within \(sample.tolerance) steps, and is off by \(difference)."
                )
            }
        } catch {
            violations.append("\(name) must be read, and failed: \(error.reason).")
        }
        return violations
    }
}

extension Image {
    /// The picture with nothing to be seen through it.
    fileprivate var opaque: Image {
        var image = self
        image.update { pixels in
            for index in stride(from: 3, to: pixels.count, by: Image.bytesPerPixel) { pixels[index] = 255 }
        }
        return image
    }
}
