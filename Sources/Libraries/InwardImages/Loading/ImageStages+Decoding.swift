import InwardCore

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
        let options = ImageDecodingOptions(reduction: reduction, allowsTruncation: allowsTruncation)
        let result = await withinDecodingTime(address) { () throws(ImageCodecError) in
            try codec.image(from: fetched.bytes, options)
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

    /// Has a codec work no longer than the limit allows.
    func withinDecodingTime<Value: Sendable>(
        _ address: ImageAddress,
        _ work: () throws(ImageCodecError) -> Value
    ) async -> Result<Value, ImageError> {
        let deadline = Deadline(in: limits.decodingTime, on: timer)
        return await deadline.carried(by: work).mapError { error in
            guard error.reason == .timedOut, deadline.hasPassed else { return ImageError(error, of: address) }
            let explanation = "took longer to decode than the \(limits.decodingTime) allowed"
            return ImageError(.timedOut, of: address, explanation: explanation)
        }
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
