import InwardCore

extension ImageStages {
    /// The picture that a store has; `nil` if it has none, or none that can be read here.
    func product(of key: ImageKey, in store: any ImageStore) async -> StageProduct? {
        let start = timer.now
        guard let bytes = await store.bytes(of: key), let header = try? codec.header(of: bytes) else { return nil }
        let decodingBytes = header.bytes(reducedBy: 1)
        guard limits.refusal(of: header) == nil, budget.refusal(of: decodingBytes, for: header) == nil,
            let share = await budget.admission(of: decodingBytes)
        else { return nil }
        await leaveCallersThread()
        guard let image = try? codec.image(from: bytes, ImageDecodingOptions()) else { return nil }
        let step = ImageLoadReport.Step(
            name: "store",
            origin: .store,
            duration: timer.now - start,
            bytes: image.size.byteCount
        )
        return StageProduct(.success(image), shares: [share], steps: [step])
    }

    /// Hands a picture to a store, unless it came of a failure, may have been cut short, or was forgotten meanwhile.
    ///
    /// - Returns: the picture without its share of the budget, which is not held while the store takes its time.
    func keep(
        _ product: consuming StageProduct,
        of key: ImageKey,
        in store: any ImageStore,
        since version: Int
    ) async -> StageProduct {
        let bytes = encodedForStore(product)
        product.shares = []
        guard let bytes, version == self.version(of: key.address) else { return product }
        await store.keep(bytes, of: key)
        // Who forgot it while it was being kept may have come too soon for the store.
        if version != self.version(of: key.address) { await store.forget(key.address) }
        return product
    }

    private func encodedForStore(_ product: StageProduct) -> [UInt8]? {
        guard product.isKeepable, !allowsTruncation, case .success(let image) = product.result else { return nil }
        return try? codec.bytes(of: image, as: encoding)
    }
}
