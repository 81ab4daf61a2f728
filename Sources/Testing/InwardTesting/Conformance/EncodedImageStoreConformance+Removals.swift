import InwardImageServing
import InwardImages

/// Images that are removed together, or that must stay together.
private struct ImageGroup: Sendable {
    /// The images as they appear in a sentence.
    let name: String
    let images: [KeyedImage]
}

extension EncodedImageStoreConformance {
    /// The removal of an image leaves the others from its address, and those from other addresses.
    func removalViolations(_ store: any EncodedImageStore) async throws(EncodedImageStoreError) -> [String] {
        var violations: [String] = []
        // A store could take a description for a pattern.
        for name in ["a", "%", "_", "*"] {
            let key = Self.key(name)
            let groups = [
                group("the others from its address", [Self.key("b"), Self.key("c")]),
                group(
                    "those whose descriptions begin with its own",
                    ["/d", " e"].map { ImageVariantKey(address: key.address, description: key.description + $0) }
                ),
                group(
                    "those from other addresses",
                    Self.addresses[1...2].map { ImageVariantKey(address: $0, description: key.description) }
                ),
            ]
            let removed = group("the image for \(Self.excerpt(key.description))", [key])
            for group in groups + [removed] { try await insert(group, into: store) }
            violations += try await self.violations(of: store, removing: removed, keeping: groups) {
                () async throws(EncodedImageStoreError) in
                try await store.removeImage(for: key)
            }
        }
        return violations
    }

    /// The removal of all images from an address leaves those from other addresses.
    func addressViolations(_ store: any EncodedImageStore) async throws(EncodedImageStoreError) -> [String] {
        let groups = Self.addresses.map { address in
            group(
                "the images from \(Self.excerpt(address.rawValue))",
                [Self.key("1", from: address), Self.key("2", from: address)]
            )
        }
        for group in groups { try await insert(group, into: store) }
        var violations: [String] = []
        for (number, address) in Self.addresses.enumerated() {
            let others = groups.indices.filter { $0 != number }.map { groups[$0] }
            violations += try await self.violations(of: store, removing: groups[number], keeping: others) {
                () async throws(EncodedImageStoreError) in
                try await store.removeImages(from: address)
            }
            try await insert(groups[number], into: store)
        }
        return violations
    }

    /// Returns what is wrong with a removal. A store may drop an image meanwhile, but not all of a group.
    private func violations(
        of store: any EncodedImageStore,
        removing removed: ImageGroup,
        keeping groups: [ImageGroup],
        _ remove: () async throws(EncodedImageStoreError) -> Void
    ) async throws(EncodedImageStoreError) -> [String] {
        var counts: [Int] = []
        for group in groups { counts.append(try await count(group, in: store)) }
        try await remove()
        var violations: [String] = []
        if try await count(removed, in: store) > 0 {
            violations.append("A removal must remove \(removed.name), but does not.")
        }
        for (group, before) in zip(groups, counts) where before > 1 {
            if try await count(group, in: store) == 0 {
                violations.append("A removal of \(removed.name) must leave \(group.name), but does not.")
            }
        }
        return violations
    }

    /// Returns a group with an image for each key.
    private func group(_ name: String, _ keys: [ImageVariantKey]) -> ImageGroup {
        ImageGroup(name: name, images: keys.enumerated().map { KeyedImage(key: $1, image: image($0)) })
    }

    private func insert(
        _ group: ImageGroup,
        into store: any EncodedImageStore
    ) async throws(EncodedImageStoreError) {
        for image in group.images { try await store.insert(image.image, for: image.key) }
    }

    /// Returns how many images of a group a store has.
    private func count(
        _ group: ImageGroup,
        in store: any EncodedImageStore
    ) async throws(EncodedImageStoreError) -> Int {
        var count = 0
        for image in group.images where try await store.image(for: image.key) != nil { count += 1 }
        return count
    }
}
