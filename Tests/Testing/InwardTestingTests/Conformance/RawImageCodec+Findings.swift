extension RawImageCodec {
    /// For each flaw, a sentence of what is found.
    static let findings: [(Flaw, String)] = [
        (.losesAlpha, "An image of 1×2 in RAW must come back within 0 steps, and is off by"),
        (.multipliesAlpha, "An image of 1×2 in RAW must come back within 0 steps, and is off by"),
        (.losesLowBits, "An image of 1×1 in RAW must come back within 0 steps, and is off by"),
        (.shiftsRows, "An image of 1×2 in RAW must come back within 0 steps, and is off by"),
        (.swapsColorsOfLongSides, "An image of 300×5 in RAW must come back within 0 steps, and is off by"),
        (.reversesRowsOfLargeImages, "An image of 260×258 in RAW must come back within 0 steps, and is off by"),
        (.wrapsLongSides, "An image of 65537×1 in RAW says in its header to be 1×1."),
        (.saysLongSidesAreDamaged, "An image of 1×65537 must be written as RAW, and failed: damaged(RAW)."),
        (.losesOrientation, "An image of 19×11 in RAW must be turned as down, and came back as up."),
        (.forgetsOrientationInHeader, "An image of 19×11 in RAW must be turned as down, and its header says up."),
        (.namesAnotherFormat, "An image of 1×1 in RAW says in its header to be PNG."),
        (.saysAnotherSize, "An image of 160×128 in RAW must be reduced, and failed: truncated(RAW)."),
        (
            .needsAllBytesForHeader,
            "of 48×160 in RAW must be read from the first half of the bytes, and failed: truncated(RAW)."
        ),
        (
            .forgetsOrientationOfPart,
            "of 48×160 in RAW must be read from the first half of the bytes, and is another one."
        ),
        (.reducesDownwards, "An image of 67×45 in RAW, divided by 2, must be 34×23, and is 33×22."),
        (.reducesByTheFirstPixels, "An image of 160×128 in RAW, divided by 2, is off by"),
        (.reducesAsAsked, "The reduction 3 is not offered by RAW, and must be taken for 1."),
        (.offersReductionsAndIgnoresThem, "An image of 67×45 in RAW, divided by 2, must be 34×23, and is 67×45."),
        (
            .losesOrientationWhenReducing,
            "An image of 64×40 in RAW, divided by 2, must be turned as right, and came back as up."
        ),
        (.losesAlphaWhenReducing, "An image of 64×48 in RAW, divided by 2, is off by"),
        (.shiftsByABlockWhenReducing, "An image of 160×128 in RAW, divided by 2, is off by 160"),
        (.takesWhatIsCutShort, "RAW that is cut short after 9 of 4809 bytes must not decode, and does."),
        (
            .saysWhatIsCutShortIsUnrecognized,
            "RAW that is cut short after 64 of 4809 bytes must fail as truncated or damaged, and did as unrecognized."
        ),
        (
            .givesWhatThereIsInAnotherSize,
            "RAW that is cut short after 9 of 4809 bytes must be 40×30, as its header says, and is 40×1."
        ),
        (.ignoresAllowedTruncation, "in RAW must be read where truncation is allowed, and failed: truncated(RAW)."),
        (
            .takesWhatIsCutShortWhenReducing,
            "RAW that is cut short after 9 of 4809 bytes, reduced by 2, must not decode, and does."
        ),
        (
            .ignoresAllowedTruncationWhenReducing,
            "in RAW, reduced by 2, must be read where truncation is allowed, and failed: truncated(RAW)."
        ),
        (
            .givesAnotherSizeOfWhatIsCutShortWhenReducing,
            "RAW that is cut short after 9 of 4809 bytes, reduced by 2, must be 20×15, as its header says, and is 20×1."
        ),
        (.clearsWhatIsCutShort, "of 48×160 in RAW must give its first rows, and these are off by 255."),
        (.turnsWhatIsCutShort, "of 48×160 in RAW must have its size and orientation, and do not."),
        (.readsFromTheEnd, "RAW with other bytes after it must be the image before them or an error, and is another"),
        (.blamesTheTask, "What is no image, 0 bytes by the seed 0, must fail for what it is, and did as cancelled."),
        (.readsAnything, "by the seed 0, must have no header, and has one."),
        (.writesAnything, "PSD must be unsupported, and was written."),
        (.saysNothingIsUnsupported, "PSD must fail as unsupported, and did as unencodable(PSD)."),
        (.ignoresCancellationWhenReading, "in RAW must not be read after its task is cancelled, and is."),
        (.ignoresCancellationWhenWriting, "in RAW must not be written after its task is cancelled, and is."),
        (.ignoresCancellationWhenReducing, "in RAW must not be read divided by 2 after its task is cancelled, and is."),
        (
            .failsAsDamagedWhenCancelled,
            "in RAW must not be read after its task is cancelled, and failed as damaged(RAW)."
        ),
        (.ignoresDeadlineWhenReading, "in RAW must not be read after the deadline of its task has passed, and is."),
        (.ignoresDeadlineWhenWriting, "in RAW must not be written after the deadline of its task has passed, and is."),
        (
            .ignoresDeadlineWhenReducing,
            "in RAW must not be read divided by 2 after the deadline of its task has passed, and is."
        ),
        (
            .failsAsCancelledAfterDeadline,
            "in RAW must not be read after the deadline of its task has passed, and failed as cancelled."
        ),
        (
            .readsHalfWhenCancelled,
            "in RAW must not be read in part when its task is cancelled at look 1 of 40, and is."
        ),
        (
            .readsHalfAfterDeadline,
            "in RAW must not be read in part when the deadline of its task has passed at look 40 of 40, and is."
        ),
        (
            .reducesHalfWhenCancelled,
            "in RAW must not be read divided by 2 in part when its task is cancelled at look 1 of 40, and is."
        ),
        (
            .reducesHalfAfterDeadline,
            "in RAW must not be read divided by 2 in part when the deadline of its task has passed at look 2 of 40, and is."
        ),
        (
            .writesHalfWhenCancelled,
            "in RAW must not be written in part when its task is cancelled at look 32 of 40, and is."
        ),
        (
            .writesHalfAfterDeadline,
            "in RAW must not be written in part when the deadline of its task has passed at look 2 of 40, and is."
        ),
        (
            .looksAtTheDeadlineOnlyAtTheStart,
            "in RAW must be read with three looks at the deadline or more, and was with 1."
        ),
        (
            .looksForCancellationOnlyAtTheStart,
            "must not be read to the end when its task is cancelled at look 1 of 40, and is."
        ),
        (.remembersHeadersByLength, "One after the other: An image of 7×13 in RAW says in its header to be 13×7."),
        (.remembersImagesByLength, "One after the other: An image of 20×4 in RAW came back as an image of 13×7."),
        (.writesTheLastImageAgain, "One after the other: An image of 13×7 in RAW must come back within 0 steps"),
        (.sharesPixelsWhenReading, "in RAW must be read right while another is read and written, and is not."),
        (.sharesPixelsWhenWriting, "in RAW must be written right while another is read and written, and is not."),
        (.failsWhileItIsBusy, "in RAW must not change another that is read meanwhile, and does."),
        (.sharesPixelsWhileItIsSlow, "At the same time: An image of"),
        (.sharesTheHeader, "in RAW must be read right while another is read and written, and is not."),
    ]
}
