import InwardImages

extension ImageCodecConformance {
    /// `decode` and `encode`, which can use child tasks, have the same results as the other methods.
    func taskViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) async -> [String] {
        var violations: [String] = []
        for size in [ImageSize(clamping: 40, 30), ImageSize(clamping: 17, 160)] {
            let image = Image.smooth(size)
            let name = "An \(image) in \(roundTrip.format)"
            guard let bytes = try? codec.bytes(of: image, as: roundTrip.encoding) else { continue }
            if await encoded(image, by: codec, roundTrip) != .success(bytes) {
                violations.append("\(name) must be encoded by encode as by bytes(of:as:), but is not.")
            }
            for allowsTruncation in [false, true] {
                let options = ImageDecodingOptions(allowsTruncation: allowsTruncation)
                for part in [bytes, Array(bytes.dropLast(bytes.count / 4))] {
                    let expected = Result { () throws(ImageCodecError) in try codec.image(from: part, options) }
                    guard await !decoded(part, options, by: codec).isEqual(to: expected) else { continue }
                    violations.append(
                        "\(name), \(part.count) of \(bytes.count) bytes, must be decoded by decode as by image(from:_:), "
                            + "but is not."
                    )
                }
            }
            violations += await cancelledTaskViolations(codec, roundTrip, image, bytes).map { "\(name) \($0)" }
        }
        return violations
    }

    /// A cancelled task gets a complete result, or an error that says so.
    private func cancelledTaskViolations(
        _ codec: any ImageCodec,
        _ roundTrip: ImageRoundTrip,
        _ image: Image,
        _ bytes: [UInt8]
    ) async -> [String] {
        await withTaskGroup(of: String?.self) { group in
            group.cancelAll()
            group.addTask {
                let result = await encoded(image, by: codec, roundTrip)
                guard result != .success(bytes), result.reason != .cancelled else { return nil }
                return "must be encoded by encode in a cancelled task, or fail as cancelled, but is not."
            }
            group.addTask {
                let result = await decoded(bytes, ImageDecodingOptions(), by: codec)
                let expected = Result { () throws(ImageCodecError) in
                    try codec.image(from: bytes, ImageDecodingOptions())
                }
                guard result.reason != .cancelled, !result.isEqual(to: expected) else { return nil }
                return "must be decoded by decode in a cancelled task, or fail as cancelled, but is not."
            }
            return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
    }

    private func encoded(
        _ image: Image,
        by codec: any ImageCodec,
        _ roundTrip: ImageRoundTrip
    ) async -> Result<[UInt8], ImageCodecError> {
        do throws(ImageCodecError) { return .success(try await codec.encode(image, as: roundTrip.encoding)) } catch {
            return .failure(error)
        }
    }

    private func decoded(
        _ bytes: [UInt8],
        _ options: ImageDecodingOptions,
        by codec: any ImageCodec
    ) async -> Result<Image, ImageCodecError> {
        do throws(ImageCodecError) { return .success(try await codec.decode(bytes, options)) } catch {
            return .failure(error)
        }
    }
}

extension Result where Failure == ImageCodecError {
    /// The kind of failure, or `nil` after success.
    fileprivate var reason: ImageCodecError.Reason? {
        if case .failure(let error) = self { error.reason } else { nil }
    }
}

extension Result<Image, ImageCodecError> {
    /// Returns whether both are the same image, or the same kind of failure.
    fileprivate func isEqual(to other: Self) -> Bool {
        if case .success(let image) = self { .success(image) == other } else { reason == other.reason }
    }
}
