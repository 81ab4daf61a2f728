extension RawImageCodec {
    /// For each flaw, a part of a violation that must be found.
    static let findings: [(Flaw, String)] = [
        (.losesAlpha, "An image of 1×2 in RAW must match the original within 0 steps, but is off by"),
        (.multipliesAlpha, "An image of 1×2 in RAW must match the original within 0 steps, but is off by"),
        (.losesLowBits, "An image of 1×1 in RAW must match the original within 0 steps, but is off by"),
        (.shiftsRows, "An image of 1×2 in RAW must match the original within 0 steps, but is off by"),
        (.swapsColorsOfLongSides, "An image of 300×5 in RAW must match the original within 0 steps, but is off by"),
        (
            .reversesRowsOfLargeImages,
            "An image of 260×258 in RAW must match the original within 0 steps, but is off by"
        ),
        (.wrapsLongSides, "An image of 65537×1 in RAW has a header that says 1×1."),
        (.reportsLongSidesAsDamaged, "An image of 1×65537 must be encodable as RAW, but failed: damaged(RAW)."),
        (.losesOrientation, "An image of 19×11 in RAW must have the orientation down, but was decoded with up."),
        (
            .forgetsOrientationInHeader,
            "An image of 19×11 in RAW must have the orientation down, but its header says up."
        ),
        (.reportsAnotherFormat, "An image of 1×1 in RAW has a header that says PNG."),
        (.reportsAnotherSize, "An image of 160×128 in RAW must be reducible, but failed: truncated(RAW)."),
        (
            .needsAllBytesForHeader,
            "of 48×160 in RAW must be readable from the first half of the bytes, but failed: truncated(RAW)."
        ),
        (
            .forgetsOrientationOfPart,
            "of 48×160 in RAW must be readable from the first half of the bytes, but differs."
        ),
        (.roundsReducedSizesDown, "An image of 67×45 in RAW, divided by 2, must be 34×23, but is 33×22."),
        (.reducesToTheFirstPixels, "An image of 160×128 in RAW, divided by 2, is off by"),
        (.makesUnofferedReductions, "The reduction 3 is not offered by RAW, so it must be treated as 1."),
        (.offersReductionsAndIgnoresThem, "An image of 67×45 in RAW, divided by 2, must be 34×23, but is 67×45."),
        (
            .losesOrientationWhenReducing,
            "An image of 64×40 in RAW, divided by 2, must have the orientation right, but was decoded with up."
        ),
        (.losesAlphaWhenReducing, "An image of 64×48 in RAW, divided by 2, is off by"),
        (.shiftsByABlockWhenReducing, "An image of 160×128 in RAW, divided by 2, is off by 160"),
        (.decodesTruncatedBytes, "RAW truncated after 9 of 4809 bytes must not decode, but does."),
        (
            .reportsTruncatedBytesAsUnrecognized,
            "RAW truncated after 64 of 4809 bytes must fail as truncated or damaged, but failed as unrecognized."
        ),
        (
            .decodesTruncatedBytesInAnotherSize,
            "RAW truncated after 9 of 4809 bytes must be 40×30, as its header says, but is 40×1."
        ),
        (
            .ignoresAllowedTruncation,
            "in RAW must be decodable where truncation is allowed, but failed: truncated(RAW)."
        ),
        (
            .decodesTruncatedBytesWhenReducing,
            "RAW truncated after 9 of 4809 bytes, reduced by 2, must not decode, but does."
        ),
        (
            .ignoresAllowedTruncationWhenReducing,
            "in RAW, reduced by 2, must be decodable where truncation is allowed, but failed: truncated(RAW)."
        ),
        (
            .decodesTruncatedBytesInAnotherSizeWhenReducing,
            "RAW truncated after 9 of 4809 bytes, reduced by 2, must be 20×15, as its header says, but is 20×1."
        ),
        (.clearsTruncatedImages, "of 48×160 in RAW must provide the first rows, but these are off by 255."),
        (.turnsTruncatedImages, "of 48×160 in RAW must decode with the right size and orientation, but do not."),
        (.readsFromTheEnd, "RAW followed by other bytes must decode to the same image or fail, but decodes to another"),
        (
            .reportsCancellationForBadBytes,
            "Random data of 0 bytes (seed 0) must fail because of its bytes, but failed as cancelled."
        ),
        (.readsAnything, "(seed 0) must have no header, but has one."),
        (.writesAnything, "PSD must be unsupported, but was encoded."),
        (.reportsUnsupportedAsUnencodable, "PSD must fail as unsupported, but failed as unencodable(PSD)."),
        (.ignoresCancellationWhenReading, "in RAW must not be decoded after its task is cancelled, but is."),
        (.ignoresCancellationWhenWriting, "in RAW must not be encoded after its task is cancelled, but is."),
        (
            .ignoresCancellationWhenReducing,
            "in RAW must not be decoded with the reduction 2 after its task is cancelled, but is."
        ),
        (
            .failsAsDamagedWhenCancelled,
            "in RAW must fail as cancelled after its task is cancelled, but failed as damaged(RAW)."
        ),
        (.ignoresDeadlineWhenReading, "in RAW must not be decoded after its deadline has passed, but is."),
        (.ignoresDeadlineWhenWriting, "in RAW must not be encoded after its deadline has passed, but is."),
        (
            .ignoresDeadlineWhenReducing,
            "in RAW must not be decoded with the reduction 2 after its deadline has passed, but is."
        ),
        (
            .failsAsCancelledAfterDeadline,
            "in RAW must fail as timedOut after its deadline has passed, but failed as cancelled."
        ),
        (
            .decodesPartiallyWhenCancelled,
            "in RAW must not be decoded only in part when its task is cancelled at deadline check 1 of 40, but is."
        ),
        (
            .decodesPartiallyAfterDeadline,
            "in RAW must not be decoded only in part when its deadline has passed at deadline check 40 of 40, but is."
        ),
        (
            .reducesPartiallyWhenCancelled,
            "in RAW must not be decoded with the reduction 2 only in part when its task is cancelled at deadline check 1 of 40, but is."
        ),
        (
            .reducesPartiallyAfterDeadline,
            "in RAW must not be decoded with the reduction 2 only in part when its deadline has passed at deadline check 2 of 40, but is."
        ),
        (
            .encodesPartiallyWhenCancelled,
            "in RAW must not be encoded only in part when its task is cancelled at deadline check 32 of 40, but is."
        ),
        (
            .encodesPartiallyAfterDeadline,
            "in RAW must not be encoded only in part when its deadline has passed at deadline check 2 of 40, but is."
        ),
        (
            .checksTheDeadlineOnlyAtTheStart,
            "in RAW must be decoded with at least three deadline checks, but was with 1."
        ),
        (
            .checksForCancellationOnlyAtTheStart,
            "must not be decoded completely when its task is cancelled at deadline check 1 of 40, but is."
        ),
        (.remembersHeadersByLength, "Sequentially: An image of 7×13 in RAW has a header that says 13×7."),
        (.remembersImagesByLength, "Sequentially: An image of 20×4 in RAW was decoded as an image of 13×7."),
        (.writesTheLastImageAgain, "Sequentially: An image of 13×7 in RAW must match the original within 0 steps"),
        (
            .sharesPixelsWhenReading,
            "in RAW must be decoded correctly while another is decoded and encoded, but is not."
        ),
        (
            .sharesPixelsWhenWriting,
            "in RAW must be encoded correctly while another is decoded and encoded, but is not."
        ),
        (.failsDuringAnotherCall, "in RAW must not affect another image that is decoded meanwhile, but does."),
        (.sharesPixelsInSlowCalls, "Concurrently: An image of"),
        (.sharesTheHeader, "in RAW must be decoded correctly while another is decoded and encoded, but is not."),
        (
            .encodesReversedInTasks,
            "An image of 40×30 in RAW must be encoded by encode as by bytes(of:as:), but is not."
        ),
        (
            .decodesReversedInTasks,
            "An image of 40×30 in RAW, 4809 of 4809 bytes, must be decoded by decode as by image(from:_:), but is not."
        ),
        (
            .allowsTruncationInTasks,
            "An image of 40×30 in RAW, 3607 of 4809 bytes, must be decoded by decode as by image(from:_:), but is not."
        ),
        (
            .encodesPartiallyInCancelledTasks,
            "An image of 40×30 in RAW must be encoded by encode in a cancelled task, or fail as cancelled, but is not."
        ),
        (
            .decodesPartiallyInCancelledTasks,
            "An image of 40×30 in RAW must be decoded by decode in a cancelled task, or fail as cancelled, but is not."
        ),
    ]
}
