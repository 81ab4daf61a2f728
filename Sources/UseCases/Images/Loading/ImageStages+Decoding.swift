import Entities

extension ImageStages {
    /// The picture in bytes that were fetched, once there is room for it and for what is done to it.
    ///
    /// - Parameters:
    ///   - fetched: The bytes.
    ///   - step: How they came.
    ///   - reduction: What the sides of the picture are divided by.
    ///   - processingBytes: How many bytes the plugins take beside the picture.
    ///   - address: Where it came from.
    /// - Returns: what came of it, with a share of the budget.
    func decoded(
        _ fetched: FetchedImage,
        _ step: ImageLoadReport.Step,
        reducedBy reduction: Int,
        processingBytes: Int,
        _ address: ImageAddress
    ) async -> StageProduct {
        let header = fetched.header
        let bytes = header.bytes(reducedBy: reduction, processingBytes: processingBytes)
        if let refusal = limits.refusal(of: header) ?? budget.refusal(of: bytes, for: header) {
            let error = ImageError(.tooLarge, of: address, explanation: refusal)
            return StageProduct(.failure(error), steps: [step])
        }
        guard let share = await budget.admission(of: bytes) else {
            return StageProduct(.failure(.cancelled(address)), steps: [step])
        }
        await leaveCallersThread()
        let start = timer.now
        let result: ImageResult
        do {
            let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: allowsTruncation)
            result = .success(try codec.image(from: fetched.bytes, options))
        } catch {
            result = .failure(ImageError(error, of: address))
        }
        let decoding = ImageLoadReport.Step(
            name: "decode",
            origin: .done,
            duration: timer.now - start,
            bytes: result.byteCount
        )
        var product = StageProduct(result, shares: [share], steps: [step, decoding])
        product.hasRoom = true
        product.header = header
        product.isKeepable = product.isKeepable && fetched.isGenuine
        product.expiry = fetched.expiry
        return product
    }

    /// Whoever asked may be on a thread that has to go on, such as the main one, and a stage begins there. What takes long is not
    /// done there.
    func leaveCallersThread() async { await Task.yield() }
}

extension ImageHeader {
    /// How many bytes it takes in all to decode the picture and then to process it: decoding has ended by then.
    fileprivate func bytes(reducedBy reduction: Int, processingBytes: Int) -> Int {
        let (processing, isTooMany) = size.divided(by: reduction).byteCount.addingReportingOverflow(processingBytes)
        return isTooMany ? .max : max(bytes(reducedBy: reduction), processing)
    }
}
