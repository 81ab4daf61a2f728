import InwardImages

extension ImageCodecConformance {
    /// The orientation comes back, in the header and in the image.
    func orientationViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        guard roundTrip.keepsOrientation else { return [] }
        return Orientation.allCases.flatMap { orientation in
            let image = Image.smooth(ImageSize(clamping: 19, 11)).oriented(orientation)
            return violations(of: codec, roundTrip, by: image)
        }
    }

    /// What is wrong with an image that is written and read.
    func violations(of codec: any ImageCodec, _ roundTrip: ImageRoundTrip, by image: Image) -> [String] {
        do throws(ImageCodecError) {
            let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
            return violations(
                of: codec,
                ImageSample(bytes, format: roundTrip.format, image: image, tolerance: roundTrip.tolerance)
            )
        } catch {
            let isTooLong = image.size.longerSide > roundTrip.longestSide
            guard !isTooLong || error.reason != .unencodable(roundTrip.format) else { return [] }
            return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
        }
    }

    /// What is wrong with an image that is read.
    func violations(of codec: any ImageCodec, _ sample: ImageSample) -> [String] {
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
