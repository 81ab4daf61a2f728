import InwardImages

extension ImageCodecConformance {
    /// The sides that are tried, each with some others: those around the blocks of usual formats.
    private static let sides = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17]
    /// The other sides.
    private static let otherSides = [1, 8, 17]
    /// Larger images: sides around what one byte and two bytes can say.
    private static let largeSizes = [(300, 5), (5, 300), (260, 258), (65_537, 1), (1, 65_537)]

    /// Images of many sizes come back as they were.
    func sizeViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        var random = SplitMix64(seed: seed)
        var sizes: Set<ImageSize> = []
        for side in Self.sides {
            for other in Self.otherSides {
                sizes.insert(ImageSize(clamping: side, other))
                sizes.insert(ImageSize(clamping: other, side))
            }
        }
        let sorted = sizes.sorted { ($0.width, $0.height) < ($1.width, $1.height) }
        var violations: [String] = []
        for (index, size) in sorted.enumerated() {
            var images: [Image] = []
            if index % 2 == 0 || !roundTrip.keepsAlpha { images.append(.smooth(size)) }
            if index % 2 == 1, roundTrip.keepsAlpha { images.append(.smooth(size, isClear: true)) }
            if roundTrip.tolerance == 0 {
                let noise = Image.noise(size, &random)
                images.append(roundTrip.keepsAlpha ? noise : noise.opaque)
            }
            for image in images { violations += self.violations(of: codec, roundTrip, by: image) }
        }
        return violations
    }

    /// Long and large images come back as they were. Where a side is too long for the format, they are refused.
    func largeSizeViolations(_ codec: any ImageCodec, _ roundTrip: ImageRoundTrip) -> [String] {
        Self.largeSizes.flatMap { width, height in
            violations(of: codec, roundTrip, by: .smooth(ImageSize(clamping: width, height)))
        }
    }
}
