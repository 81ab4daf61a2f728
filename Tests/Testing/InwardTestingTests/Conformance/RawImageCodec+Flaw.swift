extension RawImageCodec {
    /// The flaws of the codec.
    enum Flaw: CaseIterable {
        // Pixels and sizes.
        case losesAlpha
        case multipliesAlpha
        case losesLowBits
        case shiftsRows
        case swapsColorsOfLongSides
        case reversesRowsOfLargeImages
        case wrapsLongSides
        case reportsLongSidesAsDamaged
        // Headers.
        case losesOrientation
        case forgetsOrientationInHeader
        case reportsAnotherFormat
        case reportsAnotherSize
        case needsAllBytesForHeader
        case forgetsOrientationOfPart
        // Reductions.
        case roundsReducedSizesDown
        case reducesToTheFirstPixels
        case makesUnofferedReductions
        case offersReductionsAndIgnoresThem
        case losesOrientationWhenReducing
        case losesAlphaWhenReducing
        case shiftsByABlockWhenReducing
        // Damage.
        case decodesTruncatedBytes
        case reportsTruncatedBytesAsUnrecognized
        case decodesTruncatedBytesInAnotherSize
        case ignoresAllowedTruncation
        case decodesTruncatedBytesWhenReducing
        case ignoresAllowedTruncationWhenReducing
        case decodesTruncatedBytesInAnotherSizeWhenReducing
        case clearsTruncatedImages
        case turnsTruncatedImages
        case readsFromTheEnd
        case reportsCancellationForBadBytes
        case readsAnything
        case writesAnything
        case reportsUnsupportedAsUnencodable
        // Cancellation and deadlines.
        case ignoresCancellationWhenReading
        case ignoresCancellationWhenWriting
        case ignoresCancellationWhenReducing
        case failsAsDamagedWhenCancelled
        case ignoresDeadlineWhenReading
        case ignoresDeadlineWhenWriting
        case ignoresDeadlineWhenReducing
        case failsAsCancelledAfterDeadline
        case decodesPartiallyWhenCancelled
        case decodesPartiallyAfterDeadline
        case reducesPartiallyWhenCancelled
        case reducesPartiallyAfterDeadline
        case encodesPartiallyWhenCancelled
        case encodesPartiallyAfterDeadline
        case checksTheDeadlineOnlyAtTheStart
        case checksForCancellationOnlyAtTheStart
        // State that calls share.
        case remembersHeadersByLength
        case remembersImagesByLength
        case writesTheLastImageAgain
        case sharesPixelsWhenReading
        case sharesPixelsWhenWriting
        case sharesTheHeader
        case sharesPixelsInSlowCalls
        case failsDuringAnotherCall

        case encodesReversedInTasks
        case decodesReversedInTasks
        case allowsTruncationInTasks
        case encodesPartiallyInCancelledTasks
        case decodesPartiallyInCancelledTasks
    }

    /// What the codec is doing.
    enum Activity {
        case reading
        case reducing
        case writing
    }

    /// Returns whether the flaw makes an activity ignore cancellation.
    func ignoresCancellation(_ activity: Activity) -> Bool {
        switch activity {
        case .reading: flaw == .ignoresCancellationWhenReading
        case .reducing: flaw == .ignoresCancellationWhenReducing
        case .writing: flaw == .ignoresCancellationWhenWriting
        }
    }

    /// Returns whether the flaw makes an activity ignore its deadline.
    func ignoresDeadline(_ activity: Activity) -> Bool {
        switch activity {
        case .reading: flaw == .ignoresDeadlineWhenReading
        case .reducing: flaw == .ignoresDeadlineWhenReducing
        case .writing: flaw == .ignoresDeadlineWhenWriting
        }
    }

    /// Returns whether the flaw makes a cancelled activity return a partial result.
    func returnsPartWhenCancelled(_ activity: Activity) -> Bool {
        switch activity {
        case .reading: flaw == .decodesPartiallyWhenCancelled
        case .reducing: flaw == .reducesPartiallyWhenCancelled
        case .writing: flaw == .encodesPartiallyWhenCancelled
        }
    }

    /// Returns whether the flaw makes an activity return a partial result after its deadline.
    func returnsPartAfterDeadline(_ activity: Activity) -> Bool {
        switch activity {
        case .reading: flaw == .decodesPartiallyAfterDeadline
        case .reducing: flaw == .reducesPartiallyAfterDeadline
        case .writing: flaw == .encodesPartiallyAfterDeadline
        }
    }
}
