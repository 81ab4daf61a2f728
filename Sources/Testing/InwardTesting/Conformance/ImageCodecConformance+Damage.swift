import InwardImages

extension ImageCodecConformance {
    /// The maximum number of bytes that a codec needs to recognize a format.
    private static let signatureLength = 64
    /// The maximum memory of an image. An image whose damaged header claims more is not decoded, because callers have limits
    /// too.
    private static let byteLimit = 512 * 1_024

    /// Truncated bytes fail to decode. If truncation is allowed, they result in an image of the size in the header.
    func truncationViolations(_ codec: any ImageCodec, _ specimen: ImageSample) -> [String] {
        let total = specimen.bytes.count
        // Reduced images are often decoded by different code.
        let reductions = Set([1, largestReduction(of: specimen.bytes, by: codec)]).sorted()
        var lengths = Set(0..<min(total, 96))
        lengths.formUnion(max(0, total - 32)..<total)
        lengths.formUnion(stride(from: 0, to: total, by: max(1, total / 128)))
        return lengths.sorted().flatMap { length in
            let bytes = Array(specimen.bytes.prefix(length))
            let name = "\(specimen.format) truncated after \(length) of \(total) bytes"
            return reductions.flatMap { reduction in
                let name = reduction == 1 ? name : "\(name), reduced by \(reduction),"
                let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: true)
                return strictViolations(codec, bytes, name, specimen.format, reduction)
                    + damageViolations(codec, bytes, name, options)
            }
        }
    }

    /// Returns the largest reduction that a codec offers for an image.
    func largestReduction(of bytes: [UInt8], by codec: any ImageCodec) -> Int {
        (try? codec.header(of: bytes))?.reductions.max() ?? 1
    }

    private func strictViolations(
        _ codec: any ImageCodec,
        _ bytes: [UInt8],
        _ name: String,
        _ format: ImageFormat,
        _ reduction: Int
    ) -> [String] {
        do throws(ImageCodecError) {
            _ = try codec.image(from: bytes, ImageDecodingOptions(reduction: reduction))
            return ["\(name) must not decode, but does."]
        } catch {
            switch error.reason {
            case .truncated(format), .damaged(format): return []
            case .unrecognized where bytes.count < Self.signatureLength: return []
            default: return ["\(name) must fail as truncated or damaged, but failed as \(error.reason)."]
            }
        }
    }

    /// Bytes that are changed at any position result in an image of the size in the header, or in an error.
    func changeViolations(_ codec: any ImageCodec, _ specimen: ImageSample) -> [String] {
        var random = SplitMix64(seed: seed)
        return (0..<400).flatMap { number in
            var bytes = specimen.bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                // The header is at the beginning.
                let range = Bool.random(using: &random) ? 0..<min(64, bytes.count) : 0..<bytes.count
                guard let index = range.randomElement(using: &random) else { return [String]() }
                bytes[index] = [0, 255, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random) ?? 0
            }
            let options = ImageDecodingOptions(
                reduction: [1, 2, 8].randomElement(using: &random) ?? 1,
                allowsTruncation: Bool.random(using: &random)
            )
            return damageViolations(codec, bytes, "Change \(number) of \(specimen.format) (seed \(seed))", options)
        }
    }

    /// Random bytes are not recognized as any format.
    func nonsenseViolations(_ codec: any ImageCodec) -> [String] {
        var random = SplitMix64(seed: seed)
        return (0..<200).flatMap { number in
            let count = number == 0 ? 0 : Int.random(in: 1...500, using: &random)
            let bytes = random.bytes(count)
            let name = "Random data of \(count) bytes (seed \(seed))"
            var violations: [String] = []
            do throws(ImageCodecError) {
                _ = try codec.header(of: bytes)
                violations.append("\(name) must have no header, but has one.")
            } catch {
                violations += reasonViolations(error, name)
            }
            do throws(ImageCodecError) {
                _ = try codec.image(from: bytes, ImageDecodingOptions())
                violations.append("\(name) must not decode, but does.")
            } catch {
                violations += reasonViolations(error, name)
            }
            return violations
        }
    }

    /// Returns what is wrong with the result of decoding damaged bytes.
    private func damageViolations(
        _ codec: any ImageCodec,
        _ bytes: [UInt8],
        _ name: String,
        _ options: ImageDecodingOptions
    ) -> [String] {
        do throws(ImageCodecError) {
            let header = try codec.header(of: bytes)
            let reduction = header.reductions.contains(options.reduction) ? options.reduction : 1
            guard header.bytes(reducedBy: reduction) <= Self.byteLimit else { return [] }
            let image = try codec.image(from: bytes, options)
            guard image.size != header.size.divided(by: reduction) else { return [] }
            return ["\(name) must be \(header.size.divided(by: reduction)), as its header says, but is \(image.size)."]
        } catch {
            return reasonViolations(error, name)
        }
    }

    /// Returns a violation if decoding failed for a reason other than the bytes.
    func reasonViolations(_ error: ImageCodecError, _ name: String) -> [String] {
        switch error.reason {
        case .unrecognized, .unsupported, .damaged, .truncated: []
        case .unencodable, .cancelled, .timedOut:
            ["\(name) must fail because of its bytes, but failed as \(error.reason)."]
        }
    }
}
