import InwardCore

extension ImageLoader {
    /// Loads the image at an address, processes it with all plugins, and encodes it with the loader's codec.
    ///
    /// ```swift
    /// let encoded = try await loader.loadEncodedImage(from: "avatars/7.jpg") { image in
    ///     image.isOpaque ? .jpeg(quality: 82) : .png
    /// }
    /// print(encoded.bytes.count, encoded.isGenuine)
    /// ```
    ///
    /// The load also reserves memory for encoding, as many bytes as the image has, and returns it afterwards. The image is
    /// encoded in the task of the caller, within ``ImageLimits/decodingTime``. The bytes are not cached.
    ///
    /// - Parameters:
    ///   - address: The address of the image.
    ///   - encoding: Returns the encoding of the processed image. It is called once, unless the load fails.
    /// - Returns: The encoded image. It is not genuine, and must not be cached, if the source returned a substitute, if a plugin
    ///   replaced a failure, or if the loader allows truncation.
    /// - Throws: An ``ImageError`` if the image cannot be loaded or encoded, the task is cancelled, or its deadline passes.
    public func loadEncodedImage(
        from address: ImageAddress,
        as encoding: (Image) -> ImageEncoding
    ) async throws(ImageError) -> EncodedImage {
        let loading = loading(of: address, isEncoded: true)
        var product = await observed(loading)
        product = await loading.admitted(product, from: plugins.count)
        let image = try product.result.get()
        let encoding = encoding(image)
        let bytes = try await stages.withinDecodingTime(address, to: "encode") { () async throws(ImageCodecError) in
            try await stages.codec.encode(image, as: encoding)
        }.get()
        // The reservation is held until here.
        return withExtendedLifetime(product.reservations) {
            EncodedImage(bytes, isGenuine: product.isKeepable && !stages.allowsTruncation)
        }
    }

    /// Returns the result of a load, and tells the observer.
    private func observed(_ loading: ImageLoading) async -> StageProduct {
        guard let observer else { return await loading.product() }
        let start = stages.timer.now
        var product = StageProduct(.failure(.cancelled(loading.address)))
        let load = await observer.surroundLoad(loading.address) {
            product = await loading.product()
            return product.load(since: start, on: stages.timer)
        }
        observer.loadEnded(loading.address, load)
        return product
    }
}

extension StageProduct {
    /// Returns the product with a report, as the result of a load that started at a moment.
    func load(since start: Duration, on timer: TimerService) -> ImageLoad {
        let size: ImageSize? = if case .success(let image) = result { image.size } else { nil }
        return ImageLoad(result: result, report: ImageLoadReport(steps: steps, size: size, duration: timer.now - start))
    }
}
