import InwardImages

extension ImageCodecConformance {
    /// How far a wavy image may be from what it was, in addition to what the format loses of a smooth one.
    private static let waveTolerance = 24

    /// The first bytes of an image give its header and, where truncation is allowed, its first rows.
    func partViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        let size = ImageSize(clamping: 48, 160)
        var random = SplitMix64(seed: seed)
        // The rows take about as many bytes each, so that the beginning of the bytes is the beginning of the image.
        var image = roundTrip.tolerance == 0 ? Image.noise(size, &random) : .waves(size)
        if !roundTrip.keepsAlpha { image = image.opaque }
        if roundTrip.keepsOrientation { image.orientation = .right }
        do throws(ImageCodecError) {
            let bytes = try codec.bytes(of: image, as: roundTrip.encoding)
            let sample = ImageSample(
                bytes,
                format: roundTrip.format,
                image: image,
                tolerance: roundTrip.tolerance,
                hasLeadingHeader: roundTrip.hasLeadingHeader,
                keepsTruncatedRows: roundTrip.keepsTruncatedRows
            )
            return partViolations(codec, sample)
        } catch {
            return ["A \(image) must be written as \(roundTrip.format), and failed: \(error.reason)."]
        }
    }

    /// The same for an image that is only read.
    func partViolations(_ codec: any ImageCodec, _ sample: ImageSample) -> [String] {
        // What is reduced is often read by other code.
        let reductions = Set([1, largestReduction(of: sample.bytes, by: codec)]).sorted()
        return headerViolations(codec, sample) + reductions.flatMap { rowViolations(codec, sample, reducedBy: $0) }
    }

    private func headerViolations(_ codec: any ImageCodec, _ sample: ImageSample) -> [String] {
        guard sample.hasLeadingHeader else { return [] }
        let bytes = sample.bytes
        let name = "The header of a \(sample.image) in \(sample.format) must be read from the first half of the bytes"
        do throws(ImageCodecError) {
            let header = try codec.header(of: Array(bytes.prefix(bytes.count / 2)))
            let whole = try codec.header(of: bytes)
            let isSame =
                (header.format, header.size, header.orientation) == (whole.format, whole.size, whole.orientation)
                && header.reductions == whole.reductions
            return isSame ? [] : ["\(name), and is another one."]
        } catch {
            return ["\(name), and failed: \(error.reason)."]
        }
    }

    private func rowViolations(
        _ codec: any ImageCodec,
        _ sample: ImageSample,
        reducedBy reduction: Int
    ) -> [String] {
        guard sample.keepsTruncatedRows else { return [] }
        let image = sample.image
        let bytes = sample.bytes
        let whole = "Three quarters of the bytes of a \(image) in \(sample.format)"
        let name = reduction == 1 ? whole : "\(whole), reduced by \(reduction),"
        do throws(ImageCodecError) {
            let part = try codec.image(
                from: Array(bytes.prefix(bytes.count / 4 * 3)),
                ImageDecodingOptions(reduction: reduction, allowsTruncation: true)
            )
            guard part.size == image.size.divided(by: reduction), part.orientation == image.orientation else {
                return ["\(name) must have its size and orientation, and do not."]
            }
            // Only what is not reduced has rows to compare with.
            guard reduction == 1 else { return [] }
            // Headers take bytes too, and the last rows may be there in part.
            let difference = part.largestDifference(from: image, rows: image.size.height / 3)
            guard difference > sample.tolerance + Self.waveTolerance * min(1, sample.tolerance) else { return [] }
            return ["\(name) must give its first rows, and these are off by \(difference)."]
        } catch {
            return ["\(name) must be read where truncation is allowed, and failed: \(error.reason)."]
        }
    }

    /// Bytes that follow an image are ignored, or the image is refused.
    func trailingViolations(_ codec: any ImageCodec, _ specimen: ImageSample) -> [String] {
        var random = SplitMix64(seed: seed)
        let trailing = random.bytes(64)
        let name = "\(specimen.format) with other bytes after it"
        // What is wrong with the bytes themselves is found elsewhere.
        guard let header = try? codec.header(of: specimen.bytes),
            let image = try? codec.image(from: specimen.bytes, ImageDecodingOptions())
        else { return [] }
        do throws(ImageCodecError) {
            let otherHeader = try codec.header(of: specimen.bytes + trailing)
            let otherImage = try codec.image(from: specimen.bytes + trailing, ImageDecodingOptions())
            guard otherHeader != header || otherImage != image else { return [] }
            return ["\(name) must be the image before them or an error, and is another image."]
        } catch {
            return reasonViolations(error, name)
        }
    }
}
